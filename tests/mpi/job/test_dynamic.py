"""Processes and communicators that MPI_Init did not make."""

import pytest
from harness.programs import needs_mpi4, run, well


# MPICH 5 alone ends a second session's communicator with this error in one
# run of a hundred on a busy machine: a message of the first session meets it.
HOSTS_OWN = "Fatal error in internal_Comm_create_from_group"


@needs_mpi4
@pytest.mark.unable("impi", why="Intel MPI has no sessions")
@pytest.mark.parametrize("turns", [1, 2])
def test_sessions_without_a_world(host, turns):
    alone = run(host, 2, "sessions", turns, straightway=False)
    if alone.returncode:
        pytest.skip("this host alone fails to begin again")
    for _ in range(4):
        done = run(host, 2, "sessions", turns)
        if HOSTS_OWN not in done.stdout + done.stderr:
            break
    well(done)


@pytest.mark.parametrize("straightway", [
    True, pytest.param(False, marks=pytest.mark.deep)])
@pytest.mark.unable("impi", "debian-mpich",
                    why="MPI_Comm_spawn fails in this build, on its own")
def test_spawned_processes_join(host, straightway):
    done = run(host, 2, "spawn", straightway=straightway)
    well(done, "all is well with the parents")
    assert "all is well with the children" in done.stdout
