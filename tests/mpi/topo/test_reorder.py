"""Topologies with reorder = true: what the standard promises holds, and fewer
messages cross nodes."""

import re

import pytest
from harness.programs import rounds_for, run, well

NODE = {"STRAIGHTWAY_REORDER": "1"}
CROSS = re.compile(r"between nodes:? (\d+) before, (\d+) after")


def crossing(text):
    return tuple(map(int, CROSS.search(text).groups()))


def reordered(host, n, name, *arguments, node=2, env=None, **options):
    return run(host, n, name, *arguments,
               env={**NODE, "STRAIGHTWAY_NODE_SIZE": node, **(env or {})},
               **options)


@pytest.mark.parametrize("n, node, seed", [(4, 2, 1), (6, 2, 2), (6, 3, 3),
                                           (5, 3, 4)])
def test_neighbours_are_those_of_the_topology(host, n, node, seed):
    done = well(reordered(host, n, "reordered", node, seed,
                          rounds_for(host, n, 60), node=node))
    before, after = crossing(done.stdout)
    assert after < 0.95 * before, done.stdout


def test_wrong_calls_and_heritage_are_the_hosts(host, tmp_path):
    few = [] if host.flavour == "ompi" else ["few"]
    well(run(host, 4, "reorder_wrong", tmp_path / "alone", *few,
             straightway=False))
    done = well(reordered(host, 4, "reorder_wrong", tmp_path / "ours", *few))
    assert crossing(done.stderr)[0] > 20
    for rank in range(4):
        alone = (tmp_path / f"alone.{rank}").read_text().splitlines()
        ours = (tmp_path / f"ours.{rank}").read_text().splitlines()
        assert len(alone) > 25
        assert ours == alone


def test_reordered_topologies_leave_nothing(host):
    well(reordered(host, 4, "reorder_growth", 400))


@pytest.mark.deep
def test_ten_thousand_reordered_topologies(host):
    well(reordered(host, 4, "reorder_growth", 10000, timeout=600))
