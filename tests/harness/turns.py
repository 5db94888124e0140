"""Which worker's turn it is: several pytest workers share one machine.

`once` guards what is made once for all workers (a compiled program, the run of
a host alone). `Machine` lets any number of tests run side by side, or one
marked `alone` by itself. A test that waits to be alone holds the gate, so
no later test gets in before it. All locks are flocks: the kernel drops those
of a worker that dies.
"""

import contextlib
import fcntl


@contextlib.contextmanager
def _flock(path, how):
    with open(path, "a") as file:
        fcntl.flock(file, how)
        yield


def once(path):
    """Within, no other worker is within for the same path; the lock's file
    lies beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return _flock(path.with_name(path.name + ".lock"), fcntl.LOCK_EX)


class Machine:
    """The turns of all workers that share the folder."""

    def __init__(self, folder):
        self.gate, self.room = folder / "gate.lock", folder / "room.lock"

    @contextlib.contextmanager
    def turn(self, alone=False):
        """Within, a test runs; where it is `alone`, no other does."""
        how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        with contextlib.ExitStack() as held:
            with _flock(self.gate, fcntl.LOCK_EX):
                held.enter_context(_flock(self.room, how))
            yield
