"""A program that times its Alltoalls, and its sleeps, by Python's clocks."""
import sys
import threading
import time

from mpi4py import MPI

loops = int(sys.argv[1])
comm = MPI.COMM_WORLD
mine, theirs = bytearray(1000 * comm.size), bytearray(1000 * comm.size)


def exchange():
    for _ in range(loops):
        comm.Alltoall([mine, MPI.BYTE], [theirs, MPI.BYTE])


found = {}
for name, clock in (("wtime", MPI.Wtime), ("perf_counter", time.perf_counter),
                    ("time", time.time), ("monotonic", time.monotonic)):
    comm.Barrier()
    begin = clock()
    exchange()
    found[name] = clock() - begin
for name, wait in (("sleep", time.sleep),
                   ("event", lambda s: threading.Event().wait(s))):
    begin, own = MPI.Wtime(), time.perf_counter()
    wait(0.02)
    found[name + "_clock"] = time.perf_counter() - own
    found[name] = MPI.Wtime() - begin
if comm.rank == 0:
    for name, seconds in found.items():
        print(f"{name} {seconds * 1e9:.1f}")
    print("all is well")
