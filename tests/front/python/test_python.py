"""Python programs that fork workers and start others, between collectives."""

from programs import AT_ONCE, MPI, accelerated, needs_mpi4py, well


@needs_mpi4py
def test_multiprocessing_and_subprocesses(host):
    done = well(host.run(2, [host.python, MPI / "multiproc.py"],
                         env=AT_ONCE, timeout=120))
    served, made = accelerated(done)
    assert 0 < served <= made
