"""One-sided communication in windows that the members serve gives what the host
gives: moved data, errors, ends. Atomic operations are atomic."""

import hashlib
import re

import pytest
from harness.hosts import COMMAND
from harness.jobs import JobTimeout
from harness.programs import (AT_ONCE, kept_alone, rounds_for, run, same_logs,
                              source, well)

DEEP = pytest.mark.deep
WINDOWS = re.compile(r"windows: (\d+) of (\d+) ours")

# What random_rma.c writes with 20 rounds, by ranks and seed: the same under
# every MPI. Open MPI 5 alone ends some of these programs by itself.
DIGESTS = {(2, 1): "b86548aff0d05d56", (3, 1): "2082bd3876582231",
           (2, 2): "b8884488d989aa6d"}

# The same in windows of other kinds, with 15 rounds. Open MPI alone ends these
# programs, and MPICH 4.0 alone gives other bytes.
OTHERS = {(2, 6): "dea63d52f895eb3e", (3, 7): "43e1f34e674287af"}

# Open MPI alone.
FAULTS = ["signal", "free()", "munmap_chunk", "corrupted"]


def digest(folder, n):
    log = b"".join((folder / f"log.{rank}").read_bytes() for rank in range(n))
    return hashlib.sha256(log).hexdigest()[:16]


def ours(done):
    """(ours, all) windows, summed over the ranks."""
    (found,) = WINDOWS.findall(done.stderr)
    return tuple(map(int, found))


@pytest.mark.parametrize("n, seed", [*DIGESTS])
def test_random_programs_give_what_all_hosts_give(host, n, seed, tmp_path):
    done = well(run(host, n, "random_rma", seed, 20, "--log",
                    tmp_path / "log"))
    served, windows = ours(done)
    assert served == windows == 3 * n
    assert digest(tmp_path, n) == DIGESTS[n, seed]


@pytest.mark.parametrize("n, seed", [
    (2, 3), pytest.param(3, 4, marks=DEEP), pytest.param(4, 5, marks=DEEP)])
@pytest.mark.unable("debian-mpich",
                    why="MPICH 4.0 alone gives other bytes than MPICH 5")
def test_random_programs_give_the_hosts_bytes(host, n, seed, tmp_path):
    arguments = [seed, rounds_for(host, n, 60)]
    kept = kept_alone(host, n, "random_rma", arguments, "all is well",
                      excused=FAULTS)
    well(run(host, n, "random_rma", *arguments, "--log", tmp_path / "log"))
    same_logs(kept, tmp_path, n)


@pytest.mark.parametrize("n, seed", [*OTHERS])
def test_random_programs_in_other_windows(host, n, seed, tmp_path):
    done = well(run(host, n, "random_rma", seed, 15, "others", "--log",
                    tmp_path / "log"))
    assert ours(done) == (4 * n, 4 * n)
    assert digest(tmp_path, n) == OTHERS[n, seed]


def test_windows_of_all_kinds_look_as_the_hosts(host, tmp_path):
    kept = kept_alone(host, 2, "rma_kinds", [], "all is well")
    done = well(run(host, 2, "rma_kinds", "--log", tmp_path / "log"))
    assert ours(done) == (10, 12)
    same_logs(kept, tmp_path, 2)


@pytest.mark.parametrize("n", [2, pytest.param(4, marks=DEEP)])
def test_windows_of_all_kinds_are_right(host, n, tmp_path):
    done = well(run(host, n, "rma_kinds", "all", "--log", tmp_path / "log"))
    assert ours(done) == (6 * n, 7 * n)


@pytest.mark.parametrize("env, served", [
    ({"STRAIGHTWAY_REFUSE": "place"}, 10), ({"STRAIGHTWAY_CMA": "off"}, 8),
    ({"STRAIGHTWAY_REFUSE": "place,cma"}, 4)])
def test_windows_of_all_kinds_do_without_a_service(host, env, served,
                                                   tmp_path):
    done = well(run(host, 2, "rma_kinds", "--log", tmp_path / "log", env=env))
    assert ours(done) == (served, 12)


@pytest.mark.parametrize("n", [2, pytest.param(5, marks=DEEP)])
def test_windows_are_handed_out_as_the_host_makes_them(host, n, tmp_path):
    kept = kept_alone(host, n, "fresh_windows", [12], "all is well")
    done = well(run(host, n, "fresh_windows", 12, "--log", tmp_path / "log"))
    assert ours(done) == (12 * n, 12 * n)
    same_logs(kept, tmp_path, n)


@pytest.mark.parametrize("door", ["place", "place,futex", "place,cma",
                                  "place:40"])
def test_members_find_windows_with_less_of_the_system(host, door, tmp_path):
    well(run(host, 3, "fresh_windows", 12, "--log", tmp_path / "log",
             env={"STRAIGHTWAY_REFUSE": door}))


@pytest.mark.parametrize("env", [
    {"STRAIGHTWAY_RMA": "off"}, {"STRAIGHTWAY_SHOW": "off"},
    {"STRAIGHTWAY_REFUSE": "memfd"}, {"STRAIGHTWAY_NODE_SIZE": "1"}])
@pytest.mark.unable("openmpi", "debian-openmpi",
                    why="Open MPI alone ends such programs")
def test_what_cannot_be_reached_stays_with_the_host(host, env, tmp_path):
    done = well(run(host, 2, "random_rma", 1, 6, "--log", tmp_path / "log",
                    env=env))
    served, windows = ours(done)
    assert windows == 6 and served < windows


def test_atomic_operations_are_atomic(host):
    done = well(run(host, 2, "contention", 100))
    assert ours(done) == (4, 4)


def test_atomic_operations_with_more_ranks_than_cores(host):
    well(run(host, 4, "contention", 20))


@DEEP
def test_atomic_operations_for_long(host):
    well(run(host, 3, "contention", 2000, timeout=300))


def test_threads_use_windows_at_once(host):
    done = well(run(host, 2, "rma_threads", 20))
    assert ours(done)[0] >= 2


@pytest.mark.parametrize("refused, error", [("", "none"), ("room", "none"),
                                            ("room,heap", "no_mem")])
def test_without_memory_an_accumulate_says_so(host, refused, error):
    done = well(run(host, 2, "no_memory", error,
                    env={"STRAIGHTWAY_REFUSE": refused}))
    assert ours(done) == (2, 2)


def test_the_host_judges_wrong_calls(host, tmp_path):
    kept = kept_alone(host, 2, "rma_errors", [], "all is well")
    done = well(run(host, 2, "rma_errors", "--log", tmp_path / "log"))
    assert ours(done) == (2, 2)
    same_logs(kept, tmp_path, 2)


@pytest.mark.unable("debian-openmpi",
                    why="Open MPI 4.1 alone takes no window on MPI_COMM_SELF")
@pytest.mark.parametrize("n", [2, pytest.param(4, marks=DEEP)])
def test_windows_come_and_go(host, n):
    done = well(run(host, n, "rma_lives", 40))
    served, windows = ours(done)
    assert windows - 2 * n <= served < windows


@DEEP
@pytest.mark.unable("debian-openmpi",
                    why="Open MPI 4.1 alone takes no window on MPI_COMM_SELF")
def test_ten_thousand_windows(host):
    well(run(host, 2, "rma_lives", 10000, timeout=500))


@pytest.mark.parametrize("how, kind", [
    ("lock", "created"), ("post", "allocated"), ("fence", "dynamic"),
    ("midst", "shared"), ("midst", "dynamic")])
def test_a_killed_rank_ends_the_job(host, how, kind):
    try:
        run(host, 3, "kill_rma", how, kind, timeout=60, straightway=False)
    except JobTimeout:
        pytest.skip("the host alone does not end")
    assert run(host, 3, "kill_rma", how, kind, timeout=60).returncode != 0


@pytest.mark.parametrize("n", [2, 3])
def test_an_epoch_is_started_before_its_targets_have_posted(host, n):
    done = well(run(host, n, "late_post"))
    served, windows = ours(done)
    assert served == windows == n


def test_a_writer_that_waits_keeps_no_reader_from_another(host):
    done = well(run(host, 3, "rma_edges", "readers", timeout=60))
    assert ours(done) == (3, 3)


def test_types_that_only_hosts_take(host):
    well(run(host, 2, "odd_accumulates"))


@pytest.mark.parametrize("what", ["gaps", "chars", "mixed", "more"])
def test_accumulates_of_odd_types(host, what):
    done = well(run(host, 2, "rma_edges", what))
    assert ours(done) == (2, 2)


def test_small_blocks_are_attached_by_the_hundred(host):
    well(run(host, 2, "rma_edges", "pieces"))


@pytest.mark.parametrize("n", [2, 3, pytest.param(4, marks=DEEP)])
def test_patches_of_a_global_array(host, n):
    done = well(run(host, n, "arrays", n, rounds_for(host, n, 18)))
    assert ours(done) == (n, n)


def test_the_loops_of_benchmarks(host):
    well(run(host, 2, "one_sided", 1 << 12, 2))


@pytest.mark.deep
def test_the_loops_of_benchmarks_for_long(host):
    well(run(host, 2, "one_sided", 1 << 21, 20, timeout=900))


SHORT = """r=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
[ $((r % 2)) = 1 ] && ulimit -v 8000000
exec "$@"
"""


def test_a_dynamic_window_of_ranks_that_map_too_little(host):
    """Odd ranks have no address space for the others' arenas."""
    program = host.compile(source("dynamic_far.c"))
    line = host.command_line(3, [program])
    at = line.index(COMMAND)
    done = well(host.start([*line[:at], "sh", "-c", SHORT, "sh", *line[at:]],
                           {"STRAIGHTWAY_POOL_SIZE": "64m", **AT_ONCE}))
    assert ours(done) == (3, 3)


def test_a_target_in_our_waits_serves_windows_of_the_host(host):
    well(run(host, 2, "host_window"))
