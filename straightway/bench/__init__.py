"""Benchmarks: the host MPI and Straightway side by side.

runs.py starts the native benchmark and follows its lines. results.py makes
cells, ratios and the verdict from these lines. Each kind of benchmark has a
module that knows what it measures: collectives.py, messages.py, datatypes.py,
recording.py. All times are medians (medians.py).
"""
