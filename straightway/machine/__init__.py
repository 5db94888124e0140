"""The machine: its hardware (hardware.py), its MPIs (hosts.py), and what it
gives to Straightway (checks.py).
"""
