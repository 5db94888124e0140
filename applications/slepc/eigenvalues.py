"""The largest eigenvalues of a tridiagonal matrix, by Krylov and Schur."""
import sys
import time

import slepc4py

slepc4py.init(sys.argv)

from petsc4py import PETSc      # noqa: E402
from slepc4py import SLEPc      # noqa: E402

N, WANTED = 60000, 6

matrix = PETSc.Mat().createAIJ([N, N], nnz=(5, 3))
for i in range(*matrix.getOwnershipRange()):
    matrix.setValue(i, i, 2 + i % 97 * 1e-3)
    if i > 0:
        matrix.setValue(i, i - 1, -1)
    if i < N - 1:
        matrix.setValue(i, i + 1, -1)
matrix.assemble()

solver = SLEPc.EPS().create()
solver.setOperators(matrix)
solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
solver.setDimensions(WANTED, 60)
solver.setWhichEigenpairs(SLEPc.EPS.Which.LARGEST_REAL)
solver.setTolerances(1e-7, 200)
begun = time.perf_counter()
solver.solve()
show = PETSc.Sys.Print
show(f"solved in {time.perf_counter() - begun:.3f} s")
show("converged", min(WANTED, solver.getConverged()))
for i in range(min(WANTED, solver.getConverged())):
    show(f"eigenvalue {solver.getEigenvalue(i).real:.10f}")
