"""Which rank should sit on which core: placements, their costs, and the files
that launchers read.

A program's traffic (traffic.py, patterns.py) and a machine's slots
(machine/slots.py) make a problem. A placement is a list: the slot of each
rank. solve.py asks the native solvers (solver.py) for candidates; cost.py
compares them.
"""
