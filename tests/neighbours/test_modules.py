"""Debian's Python and R modules that talk MPI, under Debian's Open MPI, which
they are built for."""

import re
import subprocess

import pytest
from harness.programs import accelerated

pytestmark = pytest.mark.deep
PYTHON, R = "/usr/bin/python3", "Rscript"

# A module: the package of Debian, what runs the program, the program. Rank 0
# prints a line, which is the same in each run.
PROGRAMS = {
    "h5py": ("python3-h5py-mpi", PYTHON, """
import h5py._debian_h5py_mpi as h5py
import numpy as np
from mpi4py import MPI
world = MPI.COMM_WORLD
peer = (world.rank + 1) % world.size
with h5py.File("shared.h5", "w", driver="mpio", comm=world) as file:
    rows = file.create_dataset("rows", (world.size, 100000), dtype="f8")
    rows[world.rank] = np.arange(100000) * world.rank
with h5py.File("shared.h5", "r", driver="mpio", comm=world) as file:
    assert (file["rows"][peer] == np.arange(100000) * peer).all()
total = world.allreduce(float(peer + 1))
if world.rank == 0:
    print("sum", total)
"""),
    "mpi4py-fft": ("python3-mpi4py-fft", PYTHON, """
import hashlib
import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray
fft = PFFT(MPI.COMM_WORLD, (48, 32, 40), dtype=float, backend="numpy")
values = newDistArray(fft, False)
values[:] = np.random.RandomState(MPI.COMM_WORLD.rank).rand(*values.shape)
there = fft.forward(values)
assert np.allclose(fft.backward(there), values)
mine = hashlib.sha256(np.ascontiguousarray(there)).hexdigest()
all_of_them = MPI.COMM_WORLD.gather(mine)
if all_of_them:
    print("sum", *all_of_them)
"""),
    "petsc4py": ("python3-petsc4py", PYTHON, """
import glob
import sys
sys.path[:0] = glob.glob("/usr/lib/petscdir/*/*/lib/python3/dist-packages")
import petsc4py
petsc4py.init()
from petsc4py import PETSc
n = 20000
matrix = PETSc.Mat().createAIJ([n, n], nnz=3)
first, end = matrix.getOwnershipRange()
for i in range(first, end):
    matrix[i, i] = 2.1
    for j in {max(i - 1, 0), min(i + 1, n - 1)} - {i}:
        matrix[i, j] = -1
matrix.assemble()
x, y = matrix.createVecs()
y.set(1)
solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setType("cg")
solver.getPC().setType("jacobi")
solver.setTolerances(rtol=1e-10)
solver.solve(y, x)
PETSc.Sys.Print("sum", solver.getIterationNumber(), x.norm().hex())
"""),
    "Rmpi": ("r-cran-rmpi", R, """
library(Rmpi)
rank <- mpi.comm.rank(0)
sums <- mpi.allreduce(as.double(rank + 1:50000), type=2, op="sum", comm=0)
given <- mpi.bcast(as.double(1:10) * rank, type=2, rank=1, comm=0)
if (rank == 0) cat("sum", format(sum(sums), digits=16), given, "\\n")
invisible(mpi.finalize())
"""),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_module_gives_what_it_gives_without_us(all_hosts, name, tmp_path):
    host = {one.name: one for one in all_hosts}.get("debian-openmpi")
    package, runs, text = PROGRAMS[name]
    if not host or subprocess.run(["dpkg", "-s", package],
                                  capture_output=True).returncode:
        pytest.skip(f"no {package} here (apt-get install {package})")
    program = tmp_path / "program"
    program.write_text(text)
    said = []
    for straightway in (False, True):
        done = host.run(2, [runs, program], straightway=straightway,
                        cwd=tmp_path, check=True,
                        env={"STRAIGHTWAY_STATS": "on", "PYTHONPATH": None})
        said.append(re.findall("^sum .*", done.stdout, re.M))
    assert said[0] == said[1] and len(said[0]) == 1
    ours, calls = accelerated(done)
    assert ours >= calls / 2 > 0
