"""--guard: what the MPI does faster here is left to it."""

import pytest
from harness.programs import accelerated, run, well

LONG = 1_000_000_000


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("delay", [LONG, -LONG, 0])
def test_the_faster_side_serves(host, n, delay):
    """A call on our side seems to take a second more, or less, or what it
    takes."""
    calls = 400 if n == 2 or "mpich" not in host.name else 150
    done = well(run(host, n, "guarded", calls, env={
        "STRAIGHTWAY_GUARD": "1", "STRAIGHTWAY_GUARD_DELAY": delay}))
    ours, all_ = accelerated(done)
    if delay > 0:
        assert ours < 0.7 * all_
        assert "by --guard" in done.stderr
    if delay < 0:
        assert ours > 0.8 * all_


def test_without_it_no_call_is_tried(host):
    done = well(run(host, 2, "guarded", 100, env={
        "STRAIGHTWAY_GUARD_DELAY": LONG}))
    assert "by --guard" not in done.stderr
