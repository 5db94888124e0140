"""Arrays that change hands between two ranks: whole, parts and others' memory,
to any way to receive; an array that no rank uses any more is freed."""

import gc

import numpy
from mpi4py import MPI

from straightway import give


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


comm = MPI.COMM_WORLD
other = 1 - comm.rank

# Given and taken, of two dimensions, of another type, of none.
for shape, dtype in ((30000, float), ((60, 500), "i4"), (3, float), (0, "u1")):
    field = give.empty(shape, dtype)
    field[...] = comm.rank + 5
    give.give(comm, field, other, 1)
    assert field.size == 0, field
    status = MPI.Status()
    got = give.take(comm, other, 1, dtype, status)
    assert got.size == numpy.prod(shape) and (got == other + 5).all()
    assert status.source == other and status.Get_elements(MPI.BYTE) == \
        got.nbytes
    got *= 2        # it is the taker's to write

# An array of NumPy's own is copied and stays; so is a part.
own = numpy.arange(20000.0)
give.give(comm, own, other, 2)
assert (own == numpy.arange(20000.0)).all()
part = give.empty(20000)
part[:] = 4
give.give(comm, part[5000:], other, 2)
assert (part == 4).all()
assert (give.take(comm, other, 2) == numpy.arange(20000.0)).all()
assert (give.take(comm, other, 2) == numpy.full(15000, 4.0)).all()

# What was given reaches a receive; what was sent, a take; and by a probe.
field = give.empty(20000)
field[:] = 8
give.give(comm, field, other, 3)
room = numpy.zeros(20000)
comm.Recv(room, other, 3)
assert (room == 8).all()
request = comm.Isend(room, other, 4)
assert (give.take(comm, other, 4) == 8).all()
request.Wait()
field = give.empty(20000)
field[:] = 9
give.give(comm, field, other, 5)
status = MPI.Status()
message = comm.Mprobe(other, 5, status)
assert (give.mtake(message, float, status) == 9).all()

# By requests: more room than is needed, and what was sent as well.
first = give.itake(comm, 30000, other, 7)
second, third = (give.itake(comm, 300000, other) for _ in range(2))
field = give.empty(20000)
field[:] = 3
give.give(comm, field, other, 8)
small = comm.Isend(numpy.arange(10.0), other, 7)
assert (first.wait() == numpy.arange(10.0)).all()
give.give(comm, numpy.full(70, 6), other, 8)
statuses = [MPI.Status(), MPI.Status()]
MPI.Request.Waitall([second.request, third.request], statuses)
assert (second.array(statuses[0]) == numpy.full(20000, 3.0)).all()
field = third.array(statuses[1], int)
assert field.size == 70 and (field == 6).all()
small.Wait()
none = give.itake(comm, 30000, other, 9)
none.request.Cancel()
assert none.wait().size == 0

# A wrong give raises, and changes nothing.
field = give.empty(20000)
field[:] = 1
try:
    give.give(comm, field, 99, 0)
except MPI.Exception as wrong:
    assert wrong.Get_error_class() == MPI.ERR_RANK
else:
    raise AssertionError("a rank that is not there")
assert (field == 1).all() and field.size == 20000

# Nothing is kept.
first = 0
for i in range(300):
    field = give.empty(1 << 20, "u1")
    field[:] = i % 100
    give.give(comm, field, other, 6)
    assert (give.take(comm, other, 6, "u1") == i % 100).all()
    if i == 60:
        first = resident()
gc.collect()
assert resident() < first + (64 << 20), (first, resident())
comm.Barrier()
if comm.rank == 0:
    print("all is well")
