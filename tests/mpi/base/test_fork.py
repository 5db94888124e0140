"""A forked child and its parent each see their own memory."""

import pytest
from harness.programs import run, well


@pytest.mark.parametrize("n", [1, 2])
def test_fork_in_a_program_with_a_large_heap(host, n):
    well(run(host, n, "fork"))
