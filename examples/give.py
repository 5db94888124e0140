"""Arrays go around a ring of ranks, each rank adds its own number: none of them
is copied.

    mpirun -n 4 straightway run --stats python examples/give.py
"""

import sys

import numpy
from mpi4py import MPI

from straightway import give


def main(elements=1000000, rounds=10):
    comm = MPI.COMM_WORLD
    after, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    field = give.empty(elements)
    field[:] = 0
    for _ in range(rounds * comm.size):
        field += comm.rank
        give.give(comm, field, after)
        assert not field.size
        field = give.take(comm, before)
    right = rounds * sum(range(comm.size))
    wrong = int(numpy.count_nonzero(field != right))
    wrong = comm.allreduce(wrong)
    if comm.rank == 0:
        print(f"{comm.size} arrays of {field.nbytes} bytes, {rounds} rounds: "
              f"{wrong} elements are wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
