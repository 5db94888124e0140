"""The machine: its hardware (hardware.py), its MPIs (hosts.py), and checks of
what both give to Straightway (checks.py).
"""
