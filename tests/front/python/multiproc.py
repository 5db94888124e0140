"""mpi4py, NumPy, multiprocessing and subprocesses in one program.

Each rank makes collective calls on large arrays, while workers that were
forked from it compute on what they inherited and other programs are started.
Parents and workers must each see their own memory.
"""

import multiprocessing
import subprocess
import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
table = np.arange(500_000, dtype="f8") + rank


def inherited(part):
    """In a worker: change the inherited table, and sum a part of it."""
    table[part::4] += 1
    return float(table[part::4].sum())


def main():
    total = np.empty_like(table)
    context = multiprocessing.get_context("fork")
    for turn in range(3):
        comm.Allreduce(table, total, op=MPI.SUM)
        want = size * np.arange(table.size) + size * (size - 1) / 2
        assert np.array_equal(total, want), "Allreduce"
        with context.Pool(2) as pool:
            # While the workers have the pages, the parents write theirs.
            sums = pool.map_async(inherited, range(4), chunksize=1)
            for root in range(size):
                comm.Bcast(total, root)
            sums = sums.get(60)
        for part, found in enumerate(sums):
            mine = table[part::4]
            assert found == float((mine + 1).sum()), "a worker's memory"
        done = subprocess.run([sys.executable, "-c", "print(6 * 7)"],
                              capture_output=True, text=True, timeout=60)
        assert done.stdout.strip() == "42", done.stderr
        shell = subprocess.run("echo $((1 + 2))", shell=True, text=True,
                               capture_output=True, timeout=60)
        assert shell.stdout.strip() == "3", shell.stderr
        gathered = comm.allgather((rank, turn))
        assert gathered == [(k, turn) for k in range(size)]
    comm.Barrier()
    if rank == 0:
        print("all is well")


main()
