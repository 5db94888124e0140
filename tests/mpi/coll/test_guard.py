"""--guard: what the MPI does faster here is left to it."""

import re

import pytest
from harness.programs import accelerated, run, well

LONG = 1_000_000_000
ROUNDS = 300


def by_guard(done):
    """Blocking calls that went to the MPI for trials, and after them."""
    return sum(int(calls) for line in done.stderr.splitlines()
               if not line.startswith("straightway: all ")
               for calls in re.findall(r"faster there: --guard (\d+)", line))


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("delay", [LONG, -LONG, 0])
def test_the_faster_side_serves(host, n, delay):
    """A call on our side seems to take a second more, or less, or what it
    takes."""
    done = well(run(host, n, "guarded", ROUNDS, env={
        "STRAIGHTWAY_GUARD": "1", "STRAIGHTWAY_GUARD_DELAY": delay}))
    ours, _ = accelerated(done)
    if delay > 0:
        assert by_guard(done) > ours / 3
    if delay < 0:
        assert 0 < by_guard(done) < ours / 10


def test_without_it_no_call_is_tried(host):
    done = well(run(host, 2, "guarded", ROUNDS, env={
        "STRAIGHTWAY_GUARD_DELAY": LONG}))
    assert not by_guard(done)
