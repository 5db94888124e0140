"""The machine: its hardware (hardware.py), its MPIs (hosts.py), and checks of
what both offer Straightway (checks.py).

tree.py is the machine as a tree of places, and tree_slots.py the places for
ranks in it. Readers of trees are in readers/. job.py has the ranks of a job,
groups.py groups of cores by measured figures; a Survey (survey.py) holds all.
"""
