"""A forked child and its parent each see their own memory."""

import pytest
from harness.programs import run, source, well

WAYS = ["handlers", "cancel", "bare", "clones", "stack", "starts"]


@pytest.mark.parametrize("n", [1, 2])
def test_fork_in_a_program_with_a_large_heap(host, n):
    well(run(host, n, "fork"))


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_make_a_process_in_a_program_of_mpi(host, way):
    handlers = host.compile(source("fork_handlers.c"), "-shared", "-fPIC",
                            "-pthread")
    program = host.compile(source("fork_ways.c"), "-Wl,--no-as-needed",
                           handlers, "-pthread", "-lutil")
    well(host.run(2, [program, way], timeout=120))
