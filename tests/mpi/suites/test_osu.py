"""OSU's micro-benchmarks run to their end, and find their data right.

`make test` runs the messages, briefly. `make test-deep` runs every program with
its own number of iterations, and one-sided ones with each window and each
synchronisation. What fails with us must fail on the host alone, too.

These stay away: osu_bw_fan_in and osu_bw_fan_out need two nodes, and version
7.4 has no partitioned messages (IMB-MPI4 has persistent collectives).
"""

import re

import pytest
from harness import suites

DEEP = pytest.mark.deep
CHECK = "-c"
HOUR = 3600

MESSAGES = [
    (2, "osu_bw"), (2, "osu_bibw"), (2, "osu_bw_persistent"),
    (2, "osu_bibw_persistent"), (2, "osu_latency"),
    (2, "osu_latency_persistent"), (4, "osu_mbw_mr"), (4, "osu_multi_lat"),
    (2, "osu_latency_mp"), (2, "osu_latency_mt -t 2:2")]
# OSU checks no data of derived types.
VARIED = ["-D cont", "-D vect:8:4", "-b multiple -c", "-T all -c", "-I -c",
          "-W 200 -c"]

# Reductions of MPI_CHAR wrap around in one MPI, and saturate in another.
INTS = " -T mpi_int"
_MOVING = ["allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"]
_ROOTED = ["bcast", "gather", "gatherv", "scatter", "scatterv"]
_REDUCING = ["allreduce", "reduce", "reduce_scatter"]
_WAYS = ["osu_{}", "osu_i{}", "osu_{}_persistent"]
COLLECTIVES = [
    *(way.format(name) for way in _WAYS for name in (*_MOVING, *_ROOTED)),
    *(way.format(name) + INTS for way in _WAYS for name in _REDUCING),
    *(way.format("reduce_scatter_block") + INTS for way in _WAYS[:2])]
BARRIERS = ["osu_barrier", "osu_ibarrier", "osu_barrier_persistent"]
NEIGHBOURS = [f"osu_{way}neighbor_{name}" for way in ("", "i")
              for name in _MOVING]

WINDOWS = ["create", "allocate", "dynamic"]
SYNCS = ["lock", "flush", "flush_local", "lock_all", "pscw", "fence"]
# Those of them that check data are in ATOMICS.
ONE_SIDED = ["osu_put_latency", "osu_get_latency", "osu_get_acc_latency",
             "osu_put_bw", "osu_get_bw"]
ATOMICS = ["osu_acc_latency", "osu_fop_latency", "osu_cas_latency"]
WRONG = re.compile(r"\bFail\b|FAILED|ERROR")


def run(host, n, line, *options, timeout=60):
    name, *rest = line.split()
    argv = [suites.OSU.program(host, name), *rest, *options]
    checks = CHECK in argv

    def wrong(done):
        says = done.stdout + done.stderr
        unchecked = checks and "pass" not in says.lower()
        if done.returncode or WRONG.search(says) or unchecked:
            return f"exit status {done.returncode}: {says[-6000:]}"
        return None

    suites.compare(host, n, argv, wrong, timeout)


@suites.three
@pytest.mark.parametrize("n, line", MESSAGES)
def test_messages(host, n, line):
    run(host, n, line, CHECK, "-m", "4096:32768", "-i", 5, "-x", 1)


@suites.three
@DEEP
@pytest.mark.parametrize("n, line", [*MESSAGES, (2, "osu_mbw_mr"),
                                     (2, "osu_multi_lat"),
                                     (2, "osu_latency_mt -t 4:4")])
def test_messages_for_long(host, n, line):
    run(host, n, line, CHECK, timeout=HOUR)


@suites.three
@DEEP
@pytest.mark.parametrize("varied", VARIED)
@pytest.mark.parametrize("line", ["osu_bw", "osu_bibw", "osu_mbw_mr",
                                  "osu_latency"])
def test_messages_varied(host, line, varied):
    if line == "osu_latency" and varied[:2] in ("-b", "-W"):
        pytest.skip("has no windows")
    run(host, 2, line, *varied.split(), "-i", 100, timeout=HOUR)


@suites.three
@DEEP
@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("line", COLLECTIVES)
def test_collectives(host, line, n):
    run(host, n, line, CHECK, timeout=HOUR)


@suites.three
@DEEP
@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("line", BARRIERS)
def test_barriers(host, line, n):
    run(host, n, line, timeout=HOUR)


@suites.three
@DEEP
@pytest.mark.parametrize("line", NEIGHBOURS)
def test_collectives_of_neighbours(host, line):
    run(host, 4, line, CHECK, timeout=HOUR)


@suites.three
@DEEP
@pytest.mark.parametrize("sync", SYNCS)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("line", ONE_SIDED)
def test_one_sided(host, line, window, sync):
    run(host, 2, line, "-w", window, "-s", sync, timeout=HOUR)


@suites.three
@DEEP
@pytest.mark.parametrize("sync", ["pscw", "fence"])
@pytest.mark.parametrize("window", WINDOWS)
def test_one_sided_both_ways(host, window, sync):
    run(host, 2, "osu_put_bibw", "-w", window, "-s", sync, timeout=HOUR)


@suites.three
@DEEP
@pytest.mark.parametrize("sync", SYNCS)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("line", ATOMICS)
def test_atomics(host, line, window, sync):
    """The origin does not wait for the check of its first update, so that
    only a run of one iteration can be checked."""
    run(host, 2, line, "-w", window, "-s", sync, CHECK, "-i", 1, "-x", 0)
    run(host, 2, line, "-w", window, "-s", sync, timeout=HOUR)
