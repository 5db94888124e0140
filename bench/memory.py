"""How much memory the processes of a job have together, at the peak.

    with memory.Sampler(session) as found: ...
    found.peak              # KiB

Memory that several processes map counts once: each has its share of it (Pss
of /proc/PID/smaps_rollup, proc_pid_smaps(5)). The peak of a process's resident
memory, which the system keeps by itself, counts a page for each process that
has touched it. A sampler reads every 20 ms: so it disturbs what it looks at,
and must not run while times are measured.
"""
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
    """Looks at a session again and again, until it is left."""

    def __init__(self, leader):
        self.leader, self.peak = leader, 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self):
        while not self._over.wait(PERIOD):
            self.peak = max(self.peak, of_session(self.leader))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()
