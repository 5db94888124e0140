"""How much memory the processes of a job have together, at the peak.

    sampler = memory.Sampler()
    with sampler(leader): ...       # of the job's session
    sampler.peak                    # KiB

Memory that several processes map counts once: each has its share of it (Pss
of /proc/PID/smaps_rollup, proc_pid_smaps(5)). The peak of a process's resident
memory, which the system keeps by itself, counts a page for each process that
has touched it. A sampler reads every 20 ms: so it disturbs what it looks at,
and must not run while times are measured.
"""
import contextlib
import os
import threading

PERIOD = 0.02           # s


def _session(pid):
    """The session that a process belongs to; None: it has ended."""
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _share(pid):
    """KiB of a process; 0: it has ended, or is another user's."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


def of_session(leader):
    """KiB of all processes of a session but its leader, the launcher."""
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return sum(_share(pid) for pid in pids
               if pid != leader and _session(pid) == leader)


class Sampler:
    """Looks at sessions, one at a time, again and again."""

    def __init__(self):
        self.peak = 0

    def _look(self, leader, over):
        while not over.wait(PERIOD):
            self.peak = max(self.peak, of_session(leader))

    @contextlib.contextmanager
    def __call__(self, leader):
        over = threading.Event()
        thread = threading.Thread(target=self._look, args=(leader, over),
                                  daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
