"""Very many small messages: none is lost, changed or overtaken, no sender of
them waits for a receiver that makes no MPI call, and memory is bounded."""

import re

import pytest
from harness.programs import run, well

RANKS = 8
# Hosts hold a sender back after some hundred messages, and so do messages
# that the host matches.
OURS = {"STRAIGHTWAY_P2P": "on", "STRAIGHTWAY_MATCH": "on"}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_hundred_thousand_messages_of_any_size(host, seed):
    done = well(run(host, RANKS, "stress", 100000, seed, env=OURS))
    moved = re.search(r"point to point: (\d+) messages moved", done.stderr)
    assert moved and int(moved[1]) > 1000, done.stderr


@pytest.mark.deep
@pytest.mark.parametrize("seed", [4, 5])
def test_ten_million_messages_of_any_size(host, seed):
    well(run(host, RANKS, "stress", 10 ** 7, seed, env=OURS, timeout=1800))


@pytest.mark.parametrize("order", ["first", "last", "posted"])
def test_a_flood_waits_for_its_receiver(host, order):
    well(run(host, 2, "flood", 50000, 0, order, env=OURS))


@pytest.mark.deep
@pytest.mark.parametrize("order", ["first", "last", "posted"])
def test_a_flood_of_a_million_waits_for_its_receiver(host, order):
    well(run(host, 2, "flood", 10 ** 6, 3, order, env=OURS, timeout=600))
