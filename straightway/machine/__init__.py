"""The machine: its hardware (hardware.py), its MPIs (hosts.py), and checks of
what both offer Straightway (checks.py)."""
