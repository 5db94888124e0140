"""A rank that goes away ends the job, as on the host alone, and leaves
nothing behind."""

import os

import pytest

from programs import run


@pytest.mark.parametrize("how", ["signal", "abort", "exit"])
def test_a_lost_rank_ends_the_job(host, how):
    """A job that hangs fails by its timeout; the harness looks for stray
    processes."""
    alone = run(host, 2, "kill", how, timeout=60, straightway=False)
    done = run(host, 2, "kill", how, timeout=60)
    assert alone.returncode != 0 and done.returncode != 0
    assert not [name for name in os.listdir("/dev/shm")
                if "straightway" in name]
