"""What the tests of MPI programs share: where they lie, how they are run."""

import pytest

from . import jobs, turns
from .hosts import COMMAND, TESTS

MPI = TESTS / "mpi"

CUT_OFF = "cut off"

# What a run tells of itself at its end.
AT_ONCE = {"STRAIGHTWAY_STATS": "1"}


# Tests that some MPIs cannot run (harness/spread.py chooses among the others).
needs_mpi4py = pytest.mark.unable(
    lambda host: not host.mpi4py,
    why="mpi4py's wheels are not built for this MPI")
needs_fortran = pytest.mark.unable(
    lambda host: "fortran" not in host.compilers, why="no Fortran here "
    "(apt-get install gfortran and Debian's MPIs)")
no_f08 = pytest.mark.unable(
    "impi", why="Intel MPI has mpi_f08 for Intel's compiler only")
too_slow_crowded = pytest.mark.unable(
    "mpich", "mpich-abi", "debian-mpich",
    why="too slow with more ranks than cores on this host alone")

needs_mpi4 = pytest.mark.unable(
    "debian-openmpi", why="Open MPI 4.1 is older than MPI 4.0")

# A stand-in for our library, for tests of the benchmarks: it switches as ours
# does (`state`), and the test adds what it spoils.
SWITCH = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
static int state = 1;
int straightway_accelerate(int on)
{
    int before = state;
    if (on >= 0)
        state = on == 1;
    return before;
}
"""


# For a test of what a processor takes: a hypervisor may take the core away for
# ten milliseconds without a word, which is the program's time then. What is
# wrong is wrong again; and a job that does not end is not run again.
measures = pytest.mark.flaky(reruns=3, rerun_except=["JobTimeout"])


def steady(host):
    """Settings under which computing takes what it takes by a count, and not by
    the processor's time: see steady_cpu.c. Without an area for restartable
    sequences no thread's time is read from the counter (cpu_clock.h)."""
    library = host.compile(source("steady_cpu.c"), "-shared", "-fPIC", "-ldl")
    return {"LD_PRELOAD": str(library),
            "GLIBC_TUNABLES": "glibc.pthread.rseq=0"}


def source(name):
    """The file NAME of tests/mpi/: each name is there once."""
    (found,) = MPI.rglob(name)
    return found


def bench(host, what, *arguments, library=None, timeout=120, env=None):
    """Run `straightway bench WHAT`, a few ms a cell; the completed process."""
    env = host.environment({**({"STRAIGHTWAY_LIB": library} if library else {}),
                            **(env or {})})
    return jobs.run(
        [COMMAND, "bench", what, "--mpi", host.library, "--seconds", "0.002",
         *map(str, arguments)], env, timeout)


def rounds_for(host, n, few):
    """MPICH oversubscribed takes milliseconds a message on its own."""
    if n > 2 and "mpich" in host.name:
        return max(few // 6, 6)
    return few


def run(host, n, name, *arguments, straightway=True, env=None, timeout=120,
        **options):
    """Run NAME.c of tests/mpi/ on n ranks; returns the completed process."""
    program = host.compile(source(f"{name}.c"), "-lm", "-lpthread", "-ldl")
    argv = [str(program), *map(str, arguments)]
    settings = {**(AT_ONCE if straightway else {}), **(env or {})}
    return host.run(n, argv, straightway=straightway, env=settings,
                    timeout=timeout, **options)


def well(done, words="all is well"):
    """Assert that a run ended well and said so."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert words in done.stdout, done.stdout + done.stderr
    return done


def accelerated(done, nonblocking=False):
    """(ours, calls) over all blocking collectives, or over all nonblocking and
    persistent ones, from the statistics on stderr:
    `straightway: Allreduce  calls 120  ours 118  host 2 (...)`."""
    ours = calls = 0
    for line in done.stderr.splitlines():
        word = line.replace("straightway:", "").split()
        if "ours" in word and word[0] != "all" and \
                (word[0].startswith("I") or
                 word[0].endswith("_init")) == nonblocking:
            calls += int(word[2])
            ours += int(word[word.index("ours") + 1])
    return ours, calls


def kept_alone(host, n, name, arguments, words, excused=(), env=None,
               timeout=120):
    """The folder of the host's own run of a program with --log, which is made
    once. Where the host alone fails the test is skipped, if that is known of
    the host or one of the `excused` words is what it says, or if it was cut
    off."""
    key = "-".join(map(str, [name, n, *arguments]))
    kept = host.scratch / host.name / key
    failed = kept / "failed"
    with turns.once(kept):
        if not kept.exists():
            kept.mkdir()
            try:
                done = run(host, n, name, *arguments, "--log", kept / "log",
                           straightway=False, env=env, timeout=timeout)
            except jobs.JobTimeout as why:
                failed.write_text(f"{CUT_OFF}: {why}")
            else:
                if done.returncode or words not in done.stdout:
                    failed.write_text(done.stderr + done.stdout)
    if failed.exists():
        # Older hosts have bugs of their own that a program can hit.
        says = failed.read_text()
        assert host.name.startswith("debian-") or says.startswith(CUT_OFF) \
            or any(word in says for word in excused), says
        pytest.skip(f"the host alone fails on it: {says.strip()[:100]}")
    return kept


def same_logs(kept, ours, least, ordered=True):
    """Assert that the logs of two runs, at least so many, are the same; with
    the same lines, unless `ordered`."""
    logs = sorted(path.name for path in kept.glob("log.*"))
    assert len(logs) >= least
    for name in logs:
        a = (kept / name).read_text().splitlines()
        b = (ours / name).read_text().splitlines()
        if not ordered:
            a, b = sorted(a), sorted(b)
        wrong = [pair for pair in zip(a, b) if pair[0] != pair[1]]
        assert not wrong and len(a) == len(b), \
            f"{name}: first of {len(wrong)} differences: {wrong[:1]}"
