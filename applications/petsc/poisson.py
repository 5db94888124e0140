"""Poisson's equation on a square of N x N points, by what the options say."""
import sys
import time

import petsc4py

petsc4py.init(sys.argv)

from petsc4py import PETSc      # noqa: E402

N = 400

grid = PETSc.DMDA().create([N, N], stencil_width=1, dof=1)
matrix = grid.createMatrix()
(x0, x1), (y0, y1) = grid.getRanges()
row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
for y in range(y0, y1):
    for x in range(x0, x1):
        row.index = (x, y)
        matrix.setValueStencil(row, row, 4)
        for at in (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1):
            if 0 <= at[0] < N and 0 <= at[1] < N:
                column.index = at
                matrix.setValueStencil(row, column, -1)
matrix.assemble()

solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setTolerances(rtol=1e-8)
solver.setFromOptions()
right, found = grid.createGlobalVec(), grid.createGlobalVec()
right.set(1)
begun = time.perf_counter()
solver.solve(right, found)
show = PETSc.Sys.Print
show(f"solved in {time.perf_counter() - begun:.3f} s")
show("iterations", solver.getIterationNumber())
show(f"norm {found.norm():.10e}")
