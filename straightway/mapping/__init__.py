"""Which rank should sit on which core: placements, their costs, and the files
that launchers read.

A program's traffic (traffic.py, patterns.py) and a machine's slots
(machine/slots.py) make a problem. A placement is a list: the slot of each
rank. solve.py finds one, by closed forms for grids (grid.py) and by recursive
bipartition for all else (halving.py, descent.py); cost.py compares them.
"""
