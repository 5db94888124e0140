"""A membrane under a load: finite elements of second order on a mesh of which
each rank has a part, by conjugate gradients."""
import time

import numpy
import ufl
from dolfinx import fem, mesh
from dolfinx.fem.petsc import LinearProblem
from mpi4py import MPI
from petsc4py import PETSc

EDGE, STEPS = 96, 4

comm = MPI.COMM_WORLD
begun = time.perf_counter()
domain = mesh.create_unit_square(comm, EDGE, EDGE)
space = fem.FunctionSpace(domain, ("CG", 2))
facets = mesh.locate_entities_boundary(
    domain, 1, lambda x: numpy.isclose(x[0], 0) | numpy.isclose(x[0], 1))
fixed = fem.dirichletbc(PETSc.ScalarType(0),
                        fem.locate_dofs_topological(space, 1, facets), space)
u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
load = fem.Constant(domain, PETSc.ScalarType(1))
problem = LinearProblem(
    ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, load * v * ufl.dx, [fixed],
    petsc_options={"ksp_type": "cg", "pc_type": "jacobi", "ksp_rtol": 1e-10})
if not comm.rank:
    print("unknowns", space.dofmap.index_map.size_global)
for step in range(STEPS):
    load.value = step + 1
    found = problem.solve()
    norm = comm.allreduce(fem.assemble_scalar(fem.form(
        ufl.inner(found, found) * ufl.dx)))
    if not comm.rank:
        print(f"norm {norm:.10f}")
if not comm.rank:
    print(f"time {time.perf_counter() - begun:.3f} s")
