"""The program's computation, in the measured runs and in virtual time.

A machine is faster at one minute than at the next, and virtual time takes the
processor time of its own run. So the prediction has the computation of the
measured runs: their time outside of MPI, with the program's I/O and with waits
for a processor. That of a run in turns is of both sides. All computing of the
recorded run is scaled to it, by one factor for all ranks. Only the time of
communication is then predicted.
"""

import statistics

CLEAR = 0.01            # a factor from which it is told


def of(p):
    """ns of all ranks of a Profile."""
    return p.compute + p.io.time


def speed(recorded, measured):
    """How many times as fast as in the recorded run, whose Outcome this is, the
    program computed; `measured`: of() of runs. 1.0 where one has no time."""
    sums = recorded.sums
    took = sums.compute + sums.noise if sums else 0
    middle = statistics.median(measured) if measured else 0
    return took / middle if took > 0 and middle > 0 else 1.0


def said(factor):
    """A sentence on a factor that matters."""
    if abs(factor - 1) < CLEAR:
        return []
    return ["In the measured runs the program's computation took "
            f"{1 / factor:.2f} times as long as in the run in virtual time. "
            "The prediction has that of the measured runs."]
