"""Which parts of a calibration a program needs."""

import pytest
from straightway.whatif import needs


@pytest.mark.parametrize("procedure, parts", [
    ("MPI_Allreduce", "allreduce"), ("MPI_Allreduce_c", "allreduce"),
    ("MPI_Iallreduce", "allreduce nonblocking"),
    ("MPI_Ireduce_scatter_block_c", "nonblocking reduce_scatter_block"),
    ("MPI_Alltoallv_init", "alltoallv nonblocking"),
    ("MPI_Put", "windows"), ("MPI_Win_create", "windows"),
    ("straightway_give", "given"), ("MPI_Isend", ""), ("MPI_Init", ""),
    ("MPI_Neighbor_alltoall", "")])
def test_parts_of_a_procedure(procedure, parts):
    assert " ".join(sorted(needs.of([procedure]))) == parts


def test_parts_of_several():
    assert needs.of(["MPI_Bcast", "MPI_Ibarrier", "MPI_Bcast"]) == {
        "bcast", "barrier", "nonblocking"}
