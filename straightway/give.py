"""NumPy arrays that change hands between ranks: a rank gives an array away
instead of sending its bytes.

    from mpi4py import MPI
    from straightway import give

    comm = MPI.COMM_WORLD
    if comm.rank == 0:
        field = give.empty(1000000)         # like numpy.empty
        field[:] = 7
        give.give(comm, field, dest=1)      # field is empty now
    else:
        field = give.take(comm, source=0)   # the giver's memory itself

The program needs NumPy and mpi4py. Under `straightway run` arrays of 4 KiB and
more change hands between the ranks of a node, whatever their size. Without the
library, and where it cannot hand an array over, the same calls send the bytes.
This file needs nothing else of the package, so a program may bring a copy of it
along.

A give and a take are a send and a receive of bytes: comm.Recv gets an array
that was given, and take gets one that was sent. See docs/ownership.md.
"""

import atexit
import ctypes
import math

import numpy
from mpi4py import MPI

BY_VALUE = -1           # STRAIGHTWAY_BY_VALUE of straightway_mpi.h

_program = ctypes.CDLL(None)
_program.malloc.restype = ctypes.c_void_p
_program.malloc.argtypes = [ctypes.c_size_t]
_program.free.restype = None
_program.free.argtypes = [ctypes.c_void_p]
_awaited = set()        # takes that are to come
_going = []             # (request, block) of those on their way by value


def _find(name, result, *arguments):
    """The library's call, or None: it is not preloaded."""
    call = getattr(_program, f"straightway_library_{name}", None)
    if call is not None:
        call.restype, call.argtypes = result, arguments
    return call


_alloc = _find("alloc", ctypes.c_void_p, ctypes.c_size_t) or _program.malloc
_give = _find("give", ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t,
              ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
_itake = _find("itake", ctypes.c_int, ctypes.c_void_p, ctypes.c_int,
               ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p,
               ctypes.c_void_p)
_mtake = _find("mtake", ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p,
               ctypes.c_void_p, ctypes.c_void_p)


class _Block:
    """Memory that is freed with the last array on it, or given away."""

    def __init__(self, address, size):
        self.address, self.size = address, size

    @classmethod
    def new(cls, size):
        address = _alloc(max(size, 1))
        if not address:
            raise MemoryError(f"no memory for a block of {size} bytes")
        return cls(address, size)

    def __del__(self, free=_program.free):
        if self.address:
            free(self.address)
            self.address = None

    @property
    def __array_interface__(self):
        return {"version": 3, "shape": (self.size,), "typestr": "|u1",
                "data": (self.address, False)}

    def array(self, dtype):
        dtype = numpy.dtype(dtype)
        whole = self.size // dtype.itemsize * dtype.itemsize
        return numpy.asarray(self)[:whole].view(dtype)


def _block_of(array):
    """The block that the array is all of; None: another's memory."""
    base = array
    while isinstance(base, numpy.ndarray):
        base = base.base
    if isinstance(base, _Block) and array.flags.c_contiguous and (
            array.ctypes.data == base.address or not array.size):
        return base
    return None


def _forget(array):
    """Let the array be empty: its memory is somebody else's."""
    array.__setstate__((1, (0,), array.dtype, False, b""))


def _look_after():
    """Free the blocks whose sends are complete."""
    _going[:] = [(request, block) for request, block in _going
                 if not request.Test()]


@atexit.register
def _wait_for_all():
    if _going and not MPI.Is_finalized():
        MPI.Request.Waitall([request for request, _ in _going])
    _going.clear()


def empty(shape, dtype=float):
    """An array that can be given away, with undefined contents."""
    shape = tuple(shape) if numpy.iterable(shape) else (int(shape),)
    dtype = numpy.dtype(dtype)
    block = _Block.new(math.prod(shape) * dtype.itemsize)
    return block.array(dtype).reshape(shape)


def give(comm, array, dest, tag=0):
    """Give the array away: it is empty afterwards, and the program must not use
    another view of it. The giver never waits. An array that comes neither from
    `empty` nor from `take`, or is a part of one, is copied and stays."""
    block = _block_of(array)
    if block is None:
        fresh = empty(array.shape, array.dtype)
        fresh[...] = array
        array, block = fresh, _block_of(fresh)
    size = array.nbytes
    pointer = ctypes.c_void_p(block.address)
    result = BY_VALUE
    if _give is not None:
        result = _give(ctypes.addressof(pointer), size, dest, tag,
                       MPI._addressof(comm))
    if result == BY_VALUE:
        memory = (ctypes.c_char * size).from_address(block.address)
        own = _Block(block.address, block.size)
        try:
            _going.append((comm.Isend([memory, size, MPI.BYTE], dest, tag),
                           own))
        except BaseException:
            own.address = None
            raise
    elif result != MPI.SUCCESS:
        raise MPI.Exception(result)
    block.address = None
    _forget(array)
    _look_after()


def take(comm, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, dtype=float,
         status=None):
    """Wait for an array, given or sent: it comes with one dimension."""
    status = status if status is not None else MPI.Status()
    return mtake(comm.Mprobe(source, tag, status), dtype, status)


def mtake(message, dtype=float, status=None):
    """The same for a message that comm.Mprobe or comm.Improbe has matched;
    `status` is what that has filled."""
    address, size = ctypes.c_void_p(), ctypes.c_size_t()
    result = BY_VALUE
    if _mtake is not None:
        result = _mtake(ctypes.addressof(address), ctypes.addressof(size),
                        MPI._addressof(message), MPI._addressof(status))
    if result == BY_VALUE:
        block = _Block.new(status.Get_elements(MPI.BYTE))
        memory = (ctypes.c_char * block.size).from_address(block.address)
        message.Recv([memory, block.size, MPI.BYTE], status)
    elif result != MPI.SUCCESS:
        raise MPI.Exception(result)
    else:
        block = _Block(address.value, size.value)
    return block.array(dtype)


class Coming:
    """What `itake` returns: an array that is to come. Its `request` may be
    completed with others (MPI.Request.Waitall). Then `array` makes the array,
    by the request's status: empty after Cancel."""

    def __init__(self, request, block, pointer):
        self.request = request
        self._block, self._pointer = block, pointer
        _awaited.add(self)      # the block must stay until then

    def wait(self, dtype=float, status=None):
        status = status if status is not None else MPI.Status()
        self.request.Wait(status)
        return self.array(status, dtype)

    def array(self, status, dtype=float):
        _awaited.discard(self)
        self._block.address = self._pointer.value
        self._block.size = 0 if status.Is_cancelled() else \
            status.Get_elements(MPI.BYTE)
        return self._block.array(dtype)


def itake(comm, most, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG):
    """Begin to receive an array of at most `most` bytes, given or sent."""
    block = _Block.new(most)
    pointer = ctypes.c_void_p(block.address)
    result = BY_VALUE
    if _itake is not None and most < 2**31:
        request = MPI.Request()
        result = _itake(ctypes.addressof(pointer), most, MPI._addressof(
            MPI.BYTE), source, tag, MPI._addressof(comm),
            MPI._addressof(request))
    if result == BY_VALUE:
        memory = (ctypes.c_char * most).from_address(block.address)
        request = comm.Irecv([memory, most, MPI.BYTE], source, tag)
    elif result != MPI.SUCCESS:
        raise MPI.Exception(result)
    return Coming(request, block, pointer)
