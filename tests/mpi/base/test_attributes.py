"""Attributes belong to the program; a handle that the host reuses means its
new object."""

import pytest
from harness.programs import accelerated, run, well


@pytest.mark.parametrize("n", [1, 2])
def test_callbacks_are_called_as_by_the_host(host, n, tmp_path):
    well(run(host, n, "attributes", 100, tmp_path / "alone",
             straightway=False))
    well(run(host, n, "attributes", 100, tmp_path / "ours"))
    for rank in range(n):
        alone = (tmp_path / f"alone.{rank}").read_text()
        assert "MPI_Finalize: copied" in alone
        assert (tmp_path / f"ours.{rank}").read_text() == alone


@pytest.mark.parametrize("types", [
    20000, pytest.param(100000, marks=pytest.mark.deep)])
def test_a_datatype_handle_that_comes_again_is_another_type(host, types):
    done = well(run(host, 2, "attributes", types, timeout=600))
    served, made = accelerated(done)
    assert served > 0.9 * made > 0
