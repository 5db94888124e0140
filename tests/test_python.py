"""Python programs that fork workers and start others, between collectives."""

import pytest

from programs import AT_ONCE, MPI, accelerated, well


def test_multiprocessing_and_subprocesses(host):
    if not host.mpi4py:
        pytest.skip(f"mpi4py's wheels are not built for {host.flavour}")
    done = well(host.run(2, [host.python, MPI / "multiproc.py"],
                         env=AT_ONCE, timeout=120))
    served, made = accelerated(done)
    assert 0 < served <= made
