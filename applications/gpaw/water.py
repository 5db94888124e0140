"""The energy of a molecule of water and the forces on its atoms, on a grid."""
import time

from ase import Atoms
from gpaw import GPAW
from gpaw.mpi import world

atoms = Atoms("OHH", [(0, 0, 0.119), (0, 0.763, -0.477), (0, -0.763, -0.477)])
atoms.center(vacuum=2.6)
begun = time.perf_counter()
atoms.calc = GPAW(mode="fd", h=0.25, xc="LDA", txt=None, convergence={
    "energy": 1e-6})
energy = atoms.get_potential_energy()
forces = atoms.get_forces()
if world.rank == 0:
    print(f"energy {energy:.6f}")
    for one in forces:
        print("forces", *(f"{part:.4f}" for part in one))
    print(f"time {time.perf_counter() - begun:.3f} s")
