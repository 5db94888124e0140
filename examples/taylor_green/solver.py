"""The Taylor-Green vortex: incompressible Navier-Stokes in a periodic box.

The method is that of textbooks (Canuto, Hussaini, Quarteroni & Zang, Spectral
Methods): a Fourier-Galerkin discretisation in a cube of side 2 pi. The
nonlinear term is in rotational form, and made of products in physical space.
The 2/3 rule prevents aliasing. A projection on divergence-free fields removes
the pressure. The time steps are those of the classical fourth-order Runge-Kutta
method:

    df/dt = P(k) [ F(u x curl u) ] - nu k^2 f,      P = 1 - k k^T / k^2

A right-hand side takes nine transforms (u, curl u, and the product), so a
step takes 36, each with one MPI_Alltoall. The diagnostics are two
MPI_Allreduce a step. No sum over ranks feeds back into the field, so the
field does not depend on how an MPI orders its sums.

The flow starts as Taylor and Green's (1937) single-scale vortex,

    u =  sin x cos y cos z,   v = -cos x sin y cos z,   w = 0,

of kinetic energy 1/8, and breaks up into ever smaller scales.
"""
import numpy as np
from mpi4py import MPI

from transform import Clock, Slabs


class TaylorGreen:
    def __init__(self, comm, n, reynolds, dt):
        self.n, self.nu, self.dt, self.time = n, 1.0 / reynolds, dt, 0.0
        self.clock = Clock()
        self.slabs = slabs = Slabs(comm, n, self.clock)
        self.scale = float(n) ** -6      # from sums over modes to box means

        k = np.fft.fftfreq(n, 1.0 / n)
        mine = k[slabs.start:slabs.start + slabs.m]
        self.k = (k.reshape(n, 1, 1), mine.reshape(1, slabs.m, 1),
                  np.arange(float(slabs.k)).reshape(1, 1, slabs.k))
        kx, ky, kz = self.k
        self.k2 = kx**2 + ky**2 + kz**2
        self.inverse_k2 = 1.0 / np.where(self.k2 == 0, 1.0, self.k2)
        self.keep = ((3 * abs(kx) < n) & (3 * abs(ky) < n)).astype(float)
        # A real field: each mode with kz > 0 stands for two.
        self.weight = np.where(kz > 0, 2.0, 1.0)

        self.u = np.empty((3,) + slabs.physical)
        self.curl = np.empty_like(self.u)
        self.product = np.empty(slabs.physical)
        self.part = np.empty(slabs.physical)
        self.f = np.empty((3,) + slabs.spectral, complex)
        self.old, self.new, self.rate = (np.empty_like(self.f)
                                         for _ in range(3))
        self.work, self.help = (np.empty(slabs.spectral, complex)
                                for _ in range(2))
        self.speed = 0.0
        self._start()

    def _start(self):
        slabs, h = self.slabs, 2 * np.pi / self.n
        x = (h * (slabs.start + np.arange(slabs.m))).reshape(-1, 1, 1)
        y = (h * np.arange(self.n)).reshape(1, -1, 1)
        z = (h * np.arange(self.n)).reshape(1, 1, -1)
        self.u[0] = np.sin(x) * np.cos(y) * np.cos(z)
        self.u[1] = -np.cos(x) * np.sin(y) * np.cos(z)
        self.u[2] = 0
        for i in range(3):
            slabs.forward(self.u[i], self.f[i])
            self.f[i] *= self.keep

    def _curl(self, f, i):
        """Component i of curl f, in spectral space."""
        a, b = (i + 1) % 3, (i + 2) % 3
        np.multiply(self.k[a], f[b], out=self.work)
        np.multiply(self.k[b], f[a], out=self.help)
        self.work -= self.help
        self.work *= 1j
        return self.work

    def _right_hand_side(self, f, rate):
        slabs, u, curl = self.slabs, self.u, self.curl
        for i in range(3):
            slabs.backward(f[i], u[i])
            slabs.backward(self._curl(f, i), curl[i])
        for i in range(3):
            a, b = (i + 1) % 3, (i + 2) % 3
            np.multiply(u[a], curl[b], out=self.product)
            np.multiply(u[b], curl[a], out=self.part)
            self.product -= self.part
            slabs.forward(self.product, rate[i])
            rate[i] *= self.keep
        # Pressure: take the part along k away. Then viscosity.
        along, help = self.work, self.help
        np.multiply(self.k[0], rate[0], out=along)
        for i in (1, 2):
            along += np.multiply(self.k[i], rate[i], out=help)
        along *= self.inverse_k2
        for i in range(3):
            rate[i] -= np.multiply(self.k[i], along, out=help)
            np.multiply(self.k2, f[i], out=help)
            help *= self.nu
            rate[i] -= help

    def step(self):
        """Advance by dt; remember the largest speed at its start."""
        dt, f, old, new, rate = self.dt, self.f, self.old, self.new, self.rate
        old[:] = f
        new[:] = f
        for stage, (weight, ahead) in enumerate(
                ((1 / 6, 1 / 2), (1 / 3, 1 / 2), (1 / 3, 1), (1 / 6, None))):
            self._right_hand_side(f, rate)
            if stage == 0:
                np.abs(self.u[0], out=self.part)
                for i in (1, 2):
                    self.part += np.abs(self.u[i], out=self.product)
                self.speed = self.part.max()
            if ahead is not None:
                np.multiply(rate, dt * ahead, out=f)
                f += old
            rate *= dt * weight
            new += rate
        f[:] = new
        self.time += dt

    def diagnose(self):
        """The diagnostics of the flow now, the same on every rank."""
        energy, vorticity, along, large = [], 0.0, 0.0, 0.0
        for i in range(3):
            f = self.f[i]
            square = (f.real**2 + f.imag**2) * self.weight
            energy.append(0.5 * self.scale * square.sum())
            square *= self.k2
            vorticity += self.scale * square.sum()
            along = along + self.k[i] * f
            large = max(large, square.max())
        x, y, z, vorticity = self.slabs.reduce(energy + [vorticity], MPI.SUM)
        along, large, speed = self.slabs.reduce(
            [abs(along).max(), large ** 0.5, self.speed], MPI.MAX)
        return {
            "time": self.time,
            "energy": x + y + z,
            "dissipation": self.nu * vorticity,    # 2 nu x enstrophy
            "divergence": along / large,
            "asymmetry": abs(x - y) / (x + y + z),
            "cfl": self.dt * speed * self.n / (2 * np.pi),
        }
