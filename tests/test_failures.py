"""A rank that goes away ends the job, as on the host alone, and leaves
nothing behind."""

import os
import time

import pytest

from programs import run


def timed(host, how, **options):
    begun = time.monotonic()
    done = run(host, 2, "kill", how, timeout=60, **options)
    return done, time.monotonic() - begun


def test_survivors_go_on_where_the_host_lets_them(host):
    """Ranks die, a communicator is revoked: nobody hangs, and what is left
    works, accelerated."""
    if host.name != "openmpi":
        pytest.skip("only Open MPI, from 5.0 on, has mpirun --with-ft ulfm")
    done = run(host, 7, "dying", launcher_args=["--with-ft", "ulfm"],
               env={"STRAIGHTWAY_STATS": "0", "STRAIGHTWAY_VERBOSE": "1"})
    assert done.stdout.count("gone on: 5") == 2, done.stdout + done.stderr
    assert "FAILED" not in done.stderr
    assert "different collectives" not in done.stderr
    assert "stays with the host" not in done.stderr


@pytest.mark.parametrize("how", ["signal", "abort", "exit"])
def test_a_lost_rank_ends_the_job(host, how):
    """It ends about as soon; the harness looks for stray processes."""
    before = set(os.listdir("/dev/shm"))
    alone, its = timed(host, how, straightway=False)
    between = set(os.listdir("/dev/shm"))
    done, ours = timed(host, how)
    after = set(os.listdir("/dev/shm"))
    assert alone.returncode != 0 and done.returncode != 0
    # Not a measurement: a hang that a launcher ends would take far longer.
    assert ours < its + 2 + (os.getloadavg()[0] > os.cpu_count()) * 8
    assert len(after - between) <= len(between - before), after - between
    assert not [name for name in after if "straightway" in name]
