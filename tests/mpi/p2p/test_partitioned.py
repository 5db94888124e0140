"""Partitioned messages. The programs check their own data and statuses: some
hosts alone hang, or give wrong data."""

import re

import pytest
from harness.programs import kept_alone, needs_mpi4, run, same_logs, well

pytestmark = needs_mpi4
ON = {"STRAIGHTWAY_STATS": "on"}


def served(done):
    found = re.search(r"partitioned messages: started (\d+)", done.stderr)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("show", ["0", "32"])
def test_random_ones(host, n, show):
    done = well(run(host, n, "partitioned", 10 * n + int(show), 25, env={
        **ON, "STRAIGHTWAY_SHOW_AFTER": show}), "all is well")
    assert served(done) > 50, done.stderr


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20))
def test_more_random_ones(host, seed):
    well(run(host, 2 + seed % 3, "partitioned", seed, 60), "all is well")


@pytest.mark.parametrize("env", [
    {"STRAIGHTWAY_ARENA": "off"}, {"STRAIGHTWAY_SHOW": "eager"},
    {"STRAIGHTWAY_SHOW": "off"}, {"STRAIGHTWAY_REFUSE": "memfd"},
    {"STRAIGHTWAY_SHOW": "off", "STRAIGHTWAY_REFUSE": "room"},
    {"STRAIGHTWAY_REFUSE": "thread"}],
    ids=["no arena", "eager", "private", "no memfd", "full", "no thread"])
@pytest.mark.unable(lambda host: host.name == "openmpi",
                    why="the MPI alone hangs in some such programs")
@pytest.mark.unable("debian-mpich", why="the MPI alone takes MPI_Parrived of "
                    "an inactive request for an error")
def test_without_what_it_needs(host, env):
    well(run(host, 2, "partitioned", 3, 10, env=env), "all is well")


def test_partitions_lie_in_static_data(host):
    assert served(well(run(host, 2, "seen", "parts", env=ON))) == 6


@pytest.mark.parametrize("count", [1, 5003])
def test_partitions_of_several_threads(host, count):
    done = run(host, 2, "partitioned_threads", count, env=ON)
    if "no MPI_THREAD_MULTIPLE" in done.stdout:
        pytest.skip("the host has no MPI_THREAD_MULTIPLE")
    assert served(well(done, "all is well")) == 80


def test_what_is_allowed_around_them(host):
    done = well(run(host, 3, "partitioned_ends", env=ON))
    assert served(done) > 6000, done.stderr


def test_partitions_that_are_not_there_are_the_hosts_errors(host, tmp_path):
    done = well(run(host, 2, "partitioned_wrong", "--log", tmp_path / "log",
                    env=ON))
    assert served(done) == 2
    if host.name == "openmpi":      # alone it writes where the numbers lead
        told = (tmp_path / "log.0").read_text()
        assert told.count(": argument, handled argument") == 7, told
        assert told.count(": none, handled nothing") == 4, told
    else:
        kept = kept_alone(host, 2, "partitioned_wrong", [], "all is well")
        same_logs(kept, tmp_path, 2)
