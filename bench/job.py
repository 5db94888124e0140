"""One job of a benchmark: a launcher, its ranks, and what they have used.

    done = job.run(words, environment, folder)

Between the launcher and each rank of the program stands a small process, RANK
(bench/rank.c). It waits for the rank and appends what the rank has used to a
log, which read_ranks() reads. So neither the launcher's own processor time nor
its memory counts, and the peak of memory is known for each rank.
"""
import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import typing

RANK = pathlib.Path(__file__).resolve().parent / "rank.c"
LIMIT = 600             # s
KEYS = {"status": int, "wall": float, "user": float, "system": float,
        "minor": int, "major": int, "rss": int, "voluntary": int,
        "involuntary": int}         # of a line of the log; rss in KiB


class Done(typing.NamedTuple):
    status: int             # of the launcher; below 0: the signal that ended it
    output: str
    errors: str
    wall: float             # s, the launcher included
    usage: object           # of the launcher and what it waited for
    late: bool              # the limit has ended the job


def end(group):
    """End a job: a launcher that gets a signal ends its ranks, too."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGTERM)
        time.sleep(2)
        os.killpg(group, signal.SIGKILL)


def run(words, env, folder, limit=LIMIT, watch=contextlib.nullcontext):
    """Run a job in a folder. Its output goes to files without a name, which a
    process that outlives the job cannot hold up. `watch(pid)` makes a context
    that lasts as long as the launcher, which leads a session of its own."""
    late = threading.Event()

    def stop(group):
        late.set()
        end(group)

    with tempfile.TemporaryFile() as output, \
            tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        job = subprocess.Popen(words, env=env, cwd=folder, stdout=output,
                               stderr=errors, stdin=subprocess.DEVNULL,
                               start_new_session=True)
        timer = threading.Timer(limit, stop, [job.pid])
        timer.start()
        try:
            with watch(job.pid):
                _, status, usage = os.wait4(job.pid, 0)
                wall = time.perf_counter() - start
        except BaseException:
            end(job.pid)
            job.wait()
            raise
        finally:
            timer.cancel()
        job.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in output, errors:
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
        return Done(job.returncode, *texts, wall, usage, late.is_set())


def read_ranks(log):
    """What each rank has used, from a log of RANK."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [{key: kind(word) for (key, kind), word in
             zip(KEYS.items(), line.split())} for line in lines]
