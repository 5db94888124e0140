"""The three-dimensional Fourier transform of a field cut into slabs.

A rank holds M = N/p planes. In physical space they are planes of constant x,
in spectral space of constant ky:

    physical  u[M, N, N]      x split, y and z whole   (real)
    spectral  f[N, M, K]      kx whole, ky split, kz whole   (complex)

Forward: transform along z and y, which are whole here; exchange, so that x
becomes whole; transform along x. The exchange is a transpose of p x p blocks
and therefore exactly one MPI_Alltoall. Block j holds my x and the ky of rank
j. The block from rank i holds its x and my ky. The received blocks, stacked in
rank order, are already the spectral array. Only the sender must pack. Backward
is the same in the other direction, and only the receiver must unpack.

The field is real, so kz >= 0 suffices. The transform drops the modes with kz at
or above N/3, which the 2/3 rule would remove. Hence K = (N-1)//3 + 1 instead of
N/2 + 1.
"""
import numpy as np
from mpi4py import MPI


class Clock:
    """Where the time of one rank went: seconds, calls and bytes by kind."""

    def __init__(self):
        self.seconds, self.calls, self.bytes = {}, {}, {}
        self.reset()

    def reset(self):
        for kind in ("alltoall", "allreduce"):
            self.seconds[kind], self.calls[kind] = 0.0, 0
            self.bytes[kind] = 0

    def add(self, kind, seconds, size):
        self.seconds[kind] += seconds
        self.calls[kind] += 1
        self.bytes[kind] += size


class Slabs:
    """Transforms between the two halves of the drawing above."""

    def __init__(self, comm, n, clock):
        p = comm.size
        if n % p or n < 4:
            raise ValueError(f"{n} planes do not divide evenly among {p} ranks")
        self.comm, self.clock, self.n = comm, clock, n
        self.m, self.k = n // p, (n - 1) // 3 + 1
        m, k = self.m, self.k
        self.physical, self.spectral = (m, n, n), (n, m, k)
        self.start = comm.rank * m
        self._z = np.empty((m, n, n // 2 + 1), complex)
        self._y = np.empty((m, n, k), complex)
        self._blocks = np.empty((p, m, m, k), complex)
        self._x = np.empty((n, m, k), complex)

    def forward(self, u, f):
        """Transform physical u into spectral f, and return f."""
        p, m, k = self.comm.size, self.m, self.k
        np.fft.rfft(u, axis=2, out=self._z)
        np.fft.fft(self._z[:, :, :k], axis=1, out=self._y)
        np.copyto(self._blocks,
                  self._y.reshape(m, p, m, k).transpose(1, 0, 2, 3))
        self._exchange(self._blocks, self._x)
        return np.fft.fft(self._x, axis=0, out=f)

    def backward(self, f, u):
        """Transform spectral f into physical u, and return u."""
        p, m, k = self.comm.size, self.m, self.k
        np.fft.ifft(f, axis=0, out=self._x)
        self._exchange(self._x, self._blocks)
        np.copyto(self._y.reshape(m, p, m, k),
                  self._blocks.transpose(1, 0, 2, 3))
        np.fft.ifft(self._y, axis=1, out=self._y)
        return np.fft.irfft(self._y, n=self.n, axis=2, out=u)

    def _exchange(self, send, receive):
        start = MPI.Wtime()
        self.comm.Alltoall(send, receive)
        self.clock.add("alltoall", MPI.Wtime() - start, send.nbytes)

    def reduce(self, values, op):
        """The values of all ranks, combined by op, on every rank."""
        local = np.array(values, float)
        total = np.empty_like(local)
        start = MPI.Wtime()
        self.comm.Allreduce(local, total, op)
        self.clock.add("allreduce", MPI.Wtime() - start, local.nbytes)
        return total
