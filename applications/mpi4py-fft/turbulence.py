"""The vortices of Taylor and Green decay: Navier and Stokes' equations by
Fourier transforms, which go over all ranks."""
import time

import numpy
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

EDGE, STEPS, STEP, VISCOSITY = 64, 24, 0.01, 0.005

comm = MPI.COMM_WORLD
fft = PFFT(comm, [EDGE] * 3, axes=(0, 1, 2), dtype="d")
real = newDistArray(fft, False)
waves = newDistArray(fft, True)


def grid(array, values):
    """The coordinates of an array's part, one array for each axis."""
    part = array.local_slice()
    return numpy.meshgrid(*(values[i][part[i]] for i in range(3)),
                          indexing="ij")


numbers = numpy.fft.fftfreq(EDGE, 1 / EDGE)
k = numpy.array(grid(waves, [numbers, numbers,
                             numpy.fft.rfftfreq(EDGE, 1 / EDGE)]))
x, y, z = grid(real, [numpy.arange(EDGE) * 2 * numpy.pi / EDGE] * 3)
square = (k ** 2).sum(0)
along = k / numpy.where(square == 0, 1, square)
kept = numpy.all(abs(k) < EDGE / 3, axis=0)


def forward(values):
    real[:] = values
    return numpy.array(fft.forward(real, waves))


def backward(values):
    waves[:] = values
    return numpy.array(fft.backward(waves, real))


def change(u):
    """How the velocity changes, all in waves."""
    velocity = [backward(one) for one in u]
    spin = [backward(one) for one in 1j * numpy.cross(k, u, axis=0)]
    force = numpy.array([forward(one) for one in
                         numpy.cross(velocity, spin, axis=0)]) * kept
    return force - k * (along * force).sum(0) - VISCOSITY * square * u


u = numpy.array([forward(numpy.sin(x) * numpy.cos(y) * numpy.cos(z)),
                 forward(-numpy.cos(x) * numpy.sin(y) * numpy.cos(z)),
                 forward(0 * x)])
begun = time.perf_counter()
for step in range(STEPS):
    half = u + STEP / 2 * change(u)
    u = u + STEP * change(half)
    if step % 4 == 0:
        energy = comm.allreduce(sum((backward(one) ** 2).sum() for one in u))
        if not comm.rank:
            print(f"energy {energy / EDGE ** 3 / 2:.12f}")
if not comm.rank:
    print(f"time {time.perf_counter() - begun:.3f} s")
