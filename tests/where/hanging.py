"""Hangs of a Python program; its first argument names the kind. A comment HERE
says which ranks hang in the line below it (hangs.h)."""

import os
import sys
import time

from mpi4py import MPI

WORLD = MPI.COMM_WORLD
ME, SIZE = WORLD.rank, WORLD.size


def receives():
    """Two ranks receive objects before either sends one."""
    # HERE receives 0-1
    WORLD.recv(source=1 - ME, tag=5)
    WORLD.send("word", dest=1 - ME, tag=5)


def ring():
    """Each of three ranks waits for the next one's message."""
    room = bytearray(8)
    # HERE ring 0-2
    WORLD.Recv(room, source=(ME + 1) % SIZE, tag=2)


def ssends():
    """Two ranks send, and neither receives."""
    # HERE ssends 0-1
    WORLD.Ssend(bytearray(8), dest=1 - ME, tag=5)


def missing_send():
    """A rank waits for a message that another never sends."""
    if ME == 0:
        # HERE missing_send 0
        WORLD.Recv(bytearray(8), source=1, tag=8)
    while True:
        # HERE missing_send 1
        time.sleep(0.02)


def mismatch():
    """One rank broadcasts where the others reduce."""
    if ME == 2:
        # HERE mismatch 2
        WORLD.Bcast(bytearray(8), root=0)
    else:
        # HERE mismatch 0-1
        WORLD.Allreduce(bytearray(8), bytearray(8), MPI.BOR)
    # HERE mismatch 0-2
    WORLD.Barrier()


def user_loop():
    """One rank computes without end."""
    total = 0
    if ME == 1:
        # HERE user_loop 1
        while True: total += 1      # noqa: E701
    # HERE user_loop 0,2
    WORLD.Barrier()


def skipped_collective():
    """One rank leaves a broadcast of an object out, and ends."""
    if ME != 0:
        # HERE skipped_collective 1-2
        WORLD.bcast(None, root=0)
    # HERE skipped_collective 0
    WORLD.recv(source=1, tag=1)


def wait():
    """A rank waits for a request in a function that it calls."""
    def finish(request):
        # HERE wait 0
        request.Wait()

    if ME == 0:
        finish(WORLD.Irecv(bytearray(8), source=1, tag=4))
    # HERE wait 1
    WORLD.Barrier()


# In one piece: other ranks write to the same pipe.
sys.stdout.write(f"ready {os.getpid()}\n")
sys.stdout.flush()
WORLD.Barrier()
globals()[sys.argv[1]]()
print("rank", ME, "does not hang", flush=True)
WORLD.Abort(4)
