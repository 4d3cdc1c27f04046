"""Poisson's equation on a square by petsc4py, GMRES with block Jacobi: poisson.py N"""

import sys

import petsc4py

petsc4py.init([])
from petsc4py import PETSc  # noqa: E402

N = int(sys.argv[1])
grid = PETSc.DMDA().create([N, N], stencil_width=1)
matrix = grid.createMatrix()
(left, right), (bottom, top) = grid.getRanges()
row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
for j in range(bottom, top):
    for i in range(left, right):
        row.index = (i, j)
        for di, dj, value in ((0, 0, 4.0), (-1, 0, -1.0), (1, 0, -1.0), (0, -1, -1.0), (0, 1, -1.0)):
            if 0 <= i + di < N and 0 <= j + dj < N:
                column.index = (i + di, j + dj)
                matrix.setValueStencil(row, column, value)
matrix.assemble()
b, x = grid.createGlobalVector(), grid.createGlobalVector()
b.set(1.0)
solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setType("gmres")
solver.setTolerances(rtol=1e-10)
solver.setConvergenceHistory()
solver.solve(b, x)
for norm in solver.getConvergenceHistory():
    PETSc.Sys.Print(f"residual {norm:.17g}")
PETSc.Sys.Print(f"iterations {solver.getIterationNumber()} norm {x.norm():.17g}")
