"""How long a job may take: so many seconds of the machine's, not of the clock.

Other work on the machine keeps a job's processes from its cores. The kernel
counts for each thread how long it waited for one while it could have run. That
time is not the job's. So a limit holds on a machine that others load, and what
hangs, asleep or in a loop, still ends: a sleeper waits for no core, and a loop
that is alone on its core neither.

    wait(job, 60, lambda: jobs.processes_marked(mark))
    run(["straightway", "doctor"], timeout=60, capture_output=True)
"""

import contextlib
import os
import signal
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


def _within(limit, pids, attempt):
    """attempt(seconds), until it no longer raises subprocess.TimeoutExpired;
    it may, past `limit` seconds without those that these processes, pids(),
    waited for a core."""
    begun, left = time.monotonic(), limit
    while True:
        try:
            return attempt(left)
        except subprocess.TimeoutExpired as cut:
            passed = time.monotonic() - begun
            kept = lost(pids())
            if kept is None:
                kept = _share(passed)
            left = min(limit - (passed - kept), MOST * limit - passed)
            if left <= 0:
                cut.timeout = passed
                raise
            left = max(left, 0.5)


def wait(job, limit, pids):
    """Wait for a Popen whose processes are pids()."""
    return _within(limit, pids, job.wait)


def _family(pid):
    """A process and its descendants."""
    found = [pid]
    for one in found:
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                with open(f"/proc/{one}/task/{task}/children") as f:
                    found += map(int, f.read().split())
        except OSError:
            continue
    return found


def run(command, timeout, capture_output=False, input=None, check=False,
        **options):
    """subprocess.run(), but for what `timeout` means; past it, children end
    too."""
    if capture_output:
        options.update(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if input is not None:
        options["stdin"] = subprocess.PIPE
    once = iter([input])        # a second attempt may not give it again
    with subprocess.Popen(command, **options) as job:
        try:
            out, err = _within(
                timeout, lambda: _family(job.pid),
                lambda left: job.communicate(next(once, None), left))
        except BaseException:
            for pid in _family(job.pid):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            raise
    done = subprocess.CompletedProcess(command, job.returncode, out, err)
    if check:
        done.check_returncode()
    return done
