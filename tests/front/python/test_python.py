"""Python programs that fork workers and start others, between collectives."""

import pathlib

from harness.programs import AT_ONCE, accelerated, needs_mpi4py, well

HERE = pathlib.Path(__file__).parent


@needs_mpi4py
def test_multiprocessing_and_subprocesses(host):
    done = well(host.run(2, [host.python, HERE / "multiproc.py"],
                         env=AT_ONCE, timeout=120))
    served, made = accelerated(done)
    assert 0 < served <= made
