"""A page is the program's: what it writes beside a call stays, and what it has
said of its pages stays true."""

import pytest
from harness.programs import run, well

DEEP = pytest.mark.deep
AT_ONCE = {"STRAIGHTWAY_SHOW_AFTER": "0"}


@pytest.mark.parametrize("what", ["window", "attach", "send"])
def test_what_a_thread_writes_meanwhile_stays(host, what):
    well(run(host, 2, "beside", what, 12))


def test_what_is_under_way_is_not_overwritten(host):
    well(run(host, 2, "beside", "pending", 12, env=AT_ONCE))


@pytest.mark.parametrize("turns, env", [
    (70, {}), pytest.param(300, {}, marks=DEEP),
    pytest.param(20, AT_ONCE, marks=DEEP),
    pytest.param(20, {"STRAIGHTWAY_SHOW": "eager"}, marks=DEEP)])
def test_what_was_said_of_pages_stays_true(host, turns, env):
    well(run(host, 2, "said", turns, env=env))


# MPICH and Intel MPI let the kernel write to what the collector protects.
@pytest.mark.parametrize("turns, env", [
    (6, {}), pytest.param(40, AT_ONCE, marks=DEEP)])
@pytest.mark.unable("mpich", "mpich-abi", "debian-mpich", "impi",
                    why="such programs end under these MPIs alone")
def test_a_collector_hears_of_each_write(host, turns, env):
    well(run(host, 2, "collector", turns, env=env))
