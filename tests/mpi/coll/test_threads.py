"""Threads make collective calls on different communicators at once."""

import pytest
from harness.programs import run


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_on_their_own_communicators(host, threads):
    done = run(host, 2, "threads", threads, 100)
    assert done.returncode == 0, done.stdout + done.stderr
    if "no MPI_THREAD_MULTIPLE" in done.stdout:
        pytest.skip("this host has no MPI_THREAD_MULTIPLE")
    assert "all is well" in done.stdout
