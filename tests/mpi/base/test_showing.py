"""Private until shown: programs that use their heap in every way while they
communicate from it, and what becomes shared memory of it."""

import re

import pytest
from harness import programs
from harness.programs import run, well
from test_profile import profiled

DEEP = pytest.mark.deep
WAYS = {
    "first": {"STRAIGHTWAY_SHOW_AFTER": 0},
    "later": {"STRAIGHTWAY_SHOW_AFTER": 5},
    "eager": {"STRAIGHTWAY_SHOW": "eager"},
    "off": {"STRAIGHTWAY_SHOW": "off"},
    "write-refused": {"STRAIGHTWAY_SHOW_AFTER": 0,
                      "STRAIGHTWAY_REFUSE": "show:4"},
    "map-refused": {"STRAIGHTWAY_SHOW_AFTER": 0,
                    "STRAIGHTWAY_REFUSE": "share:3"},
}


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=DEEP)])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=DEEP)
                                       for seed in range(100, 140))])
def test_random_uses_of_the_heap(host, ranks, way, seed):
    """Under messages of any size, so that all parts of blocks are moved."""
    well(run(host, ranks, "random_heap", seed + ranks, 600, env={
        "STRAIGHTWAY_P2P_MIN": 192, **WAYS[way]}))


def shown(stderr):
    found = re.search(
        r"shown to peers (\d+) KiB, private (\d+) KiB .*, (\d+) times", stderr)
    assert found, stderr
    return [int(text) for text in found.groups()]


def test_what_is_communicated_once_stays_private(host):
    done = well(run(host, 2, "shown", "once", 300, env={
        "STRAIGHTWAY_SHOW_AFTER": 16, "STRAIGHTWAY_STATS": "on"}))
    kib, _, _ = shown(done.stderr)
    assert kib <= 2048


def test_what_is_communicated_often_is_shown(host):
    done = well(run(host, 2, "shown", "often", 200, env={
        "STRAIGHTWAY_SHOW_AFTER": 16, "STRAIGHTWAY_STATS": "on"}))
    kib, private, _ = shown(done.stderr)
    assert 256 <= kib <= 4096 <= private


@pytest.mark.parametrize("keep", ["0", "64m"])
def test_a_profile_tells_what_is_shown_anew(host, keep, tmp_path):
    calls = 40
    done, recorded = profiled(
        host, 2, [host.compile(programs.source("shown.c")), "anew", calls],
        tmp_path, enable=True, env={"STRAIGHTWAY_SHOW_AFTER": 0,
                                    "STRAIGHTWAY_ARENA_KEEP": keep})
    well(done)
    for rank in recorded.ranks:
        table = rank.table("calls")
        rows = {rank.procedures[p]: (showing, again) for p, showing, again in
                zip(*(table[name] for name in
                      ("procedure", "showing", "shown_again")))}
        showing, again = rows.pop("MPI_Sendrecv")
        assert showing
        assert not any(again for _, again in rows.values())
        # What is kept is shown once, what is not, each time: of the two
        # buffers at least the one that the partner reads.
        if keep == "0":
            assert again >= (calls - 2) * (256 << 10)
        else:
            assert again <= 4 * 256 << 10


def test_memory_that_is_locked_is_the_programs(host):
    """To within 12 MB of the program alone; all that we map is gigabytes."""
    def locked(done):
        found = re.search(r"locked (\d+) KiB, then (\d+) KiB", done.stdout)
        if not found:
            pytest.skip("mlockall is not allowed here")
        return [int(text) for text in found.groups()]

    alone = locked(well(run(host, 2, "shown", "locked", 0,
                            straightway=False)))
    ours = locked(well(run(host, 2, "shown", "locked", 0, env={
        "STRAIGHTWAY_SHOW_AFTER": 0})))
    # Intel MPI alone locks gigabytes.
    assert all(with_us <= 1.01 * host + 12288
               for with_us, host in zip(ours, alone)), (alone, ours)


def test_a_mode_that_does_not_exist_is_told(host):
    done = well(run(host, 2, "shown", "often", 1,
                    env={"STRAIGHTWAY_SHOW": "sometimes"}))
    assert "STRAIGHTWAY_SHOW=sometimes is not understood" in done.stderr
