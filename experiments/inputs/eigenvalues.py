"""Eigenvalues of the one-dimensional Laplacian by slepc4py: eigenvalues.py N"""

import sys

import slepc4py

slepc4py.init([])
from petsc4py import PETSc  # noqa: E402
from slepc4py import SLEPc  # noqa: E402

N = int(sys.argv[1])
matrix = PETSc.Mat().createAIJ([N, N], nnz=3)
for row in range(*matrix.getOwnershipRange()):
    for column, value in ((row - 1, -1.0), (row, 2.0 + row / N), (row + 1, -1.0)):
        if 0 <= column < N:
            matrix[row, column] = value
matrix.assemble()
solver = SLEPc.EPS().create()
solver.setOperators(matrix)
solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
solver.setDimensions(4)
solver.solve()
PETSc.Sys.Print(f"iterations {solver.getIterationNumber()}")
for i in range(4):
    PETSc.Sys.Print(f"eigenvalue {solver.getEigenvalue(i).real:.17g}")
