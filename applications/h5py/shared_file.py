"""All ranks write slabs of a file's data sets together, and read them in other
slabs. Columns make the MPI's files exchange pieces (two-phase I/O)."""
import time

import h5py._debian_h5py_mpi as h5py
import numpy
from mpi4py import MPI

ROWS, COLUMNS, SETS, ROUNDS = 2048, 1024, 6, 6

comm = MPI.COMM_WORLD
me, ranks = comm.rank, comm.size
rows = slice(me * ROWS // ranks, (me + 1) * ROWS // ranks)
columns = slice(me * COLUMNS // ranks, (me + 1) * COLUMNS // ranks)

begun = time.perf_counter()
total = 0
with h5py.File("shared.h5", "w", driver="mpio", comm=comm) as file:
    field = numpy.arange(ROWS * COLUMNS, dtype="i8").reshape(ROWS, COLUMNS)
    sets = [file.create_dataset(f"set {i}", (ROWS, COLUMNS), "i8")
            for i in range(SETS)]
    for step, kept in enumerate(sets * ROUNDS):
        with kept.collective:
            kept[:, columns] = (field * (step + 1) % 1009)[:, columns]
        with kept.collective:
            part = kept[rows, :]
        total += comm.allreduce(int(part.sum()))
        if not me:
            print("sum", step, total)
if not me:
    print(f"time {time.perf_counter() - begun:.6f} s")
