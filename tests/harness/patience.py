"""How long a job may take: so many seconds of the machine's, not of the clock.

Other work on the machine keeps a job's processes from its cores. The kernel
counts for each thread how long it waited for one while it could have run. That
time is not the job's. So a limit holds on a machine that others load, and what
hangs, asleep or in a loop, still ends: a sleeper waits for no core, and a loop
that is alone on its core neither.

    wait(job, 60, lambda: jobs.processes_marked(mark))
"""

import os
import subprocess
import time

MOST = 8        # times its limit, no job lasts longer


def _waited(task):
    """Seconds that a thread has waited for a core."""
    with open(f"{task}/schedstat") as f:
        return int(f.read().split()[1]) / 1e9


def lost(pids):
    """Seconds that one of these processes, the one that was kept longest, has
    waited for a core; None where the kernel does not count them."""
    found = None
    for pid in pids:
        try:
            tasks = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        for task in tasks:
            try:
                waited = _waited(f"/proc/{pid}/task/{task}")
            except (OSError, IndexError, ValueError):
                continue
            found = max(found or 0, waited)
    return found


def _share(passed):
    """The same by the machine's load, for kernels that count nothing."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    return passed * max(0, 1 - cores / max(load, cores))


def wait(job, limit, pids):
    """Wait for a Popen; subprocess.TimeoutExpired past `limit` seconds without
    those that its processes, pids(), waited for a core."""
    begun, left = time.monotonic(), limit
    while True:
        try:
            return job.wait(left)
        except subprocess.TimeoutExpired:
            passed = time.monotonic() - begun
            kept = lost(pids())
            if kept is None:
                kept = _share(passed)
            left = min(limit - (passed - kept), MOST * limit - passed)
            if left <= 0:
                raise
            left = max(left, 0.5)
