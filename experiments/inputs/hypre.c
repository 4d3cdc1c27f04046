/* The Laplacian on a square of N x N points, by HYPRE's conjugate gradients with BoomerAMG: hypre N. */
#include <HYPRE.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void fill(HYPRE_IJMatrix matrix, HYPRE_IJVector right, HYPRE_IJVector left, HYPRE_Int side, HYPRE_Int begin,
                 HYPRE_Int end) {
  const HYPRE_Int rows = side * side;
  for (HYPRE_Int row = begin; row <= end; ++row) {
    HYPRE_Int columns[5] = {row}, count = 1;
    HYPRE_Complex entries[5] = {4.0, -1.0, -1.0, -1.0, -1.0}, one = 1.0 / (1 + row % 7), zero = 0;
    if (row >= side) columns[count++] = row - side;
    if (row + side < rows) columns[count++] = row + side;
    if (row % side > 0) columns[count++] = row - 1;
    if (row % side + 1 < side) columns[count++] = row + 1;
    HYPRE_IJMatrixSetValues(matrix, 1, &count, &row, columns, entries);
    HYPRE_IJVectorSetValues(right, 1, &row, &one);
    HYPRE_IJVectorSetValues(left, 1, &row, &zero);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  HYPRE_Init();
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const HYPRE_Int side = argc > 1 ? atoi(argv[1]) : 100, rows = side * side;
  const HYPRE_Int begin = rows / ranks * rank, end = (rank + 1 == ranks ? rows : begin + rows / ranks) - 1;
  HYPRE_IJMatrix matrix;
  HYPRE_IJVector right, left;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, begin, end, begin, end, &matrix);
  HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(matrix);
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, begin, end, &right);
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, begin, end, &left);
  HYPRE_IJVectorSetObjectType(right, HYPRE_PARCSR);
  HYPRE_IJVectorSetObjectType(left, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(right);
  HYPRE_IJVectorInitialize(left);
  fill(matrix, right, left, side, begin, end);
  HYPRE_IJMatrixAssemble(matrix);
  HYPRE_IJVectorAssemble(right);
  HYPRE_IJVectorAssemble(left);
  HYPRE_ParCSRMatrix a;
  HYPRE_ParVector b, x;
  HYPRE_IJMatrixGetObject(matrix, (void**)&a);
  HYPRE_IJVectorGetObject(right, (void**)&b);
  HYPRE_IJVectorGetObject(left, (void**)&x);
  HYPRE_Solver solver, multigrid;
  HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solver);
  HYPRE_PCGSetMaxIter(solver, 200);
  HYPRE_PCGSetTol(solver, 1e-10);
  HYPRE_PCGSetTwoNorm(solver, 1);
  HYPRE_BoomerAMGCreate(&multigrid);
  HYPRE_BoomerAMGSetMaxIter(multigrid, 1);
  HYPRE_BoomerAMGSetTol(multigrid, 0.0);
  HYPRE_BoomerAMGSetRelaxType(multigrid, 6);
  HYPRE_PCGSetPrecond(solver, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve,
                      (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, multigrid);
  HYPRE_ParCSRPCGSetup(solver, a, b, x);
  HYPRE_ParCSRPCGSolve(solver, a, b, x);
  HYPRE_Int iterations;
  HYPRE_Real residual, product;
  HYPRE_PCGGetNumIterations(solver, &iterations);
  HYPRE_PCGGetFinalRelativeResidualNorm(solver, &residual);
  HYPRE_ParVectorInnerProd(x, b, &product);
  if (rank == 0) printf("iterations %d residual %.6g product %.15g\n", (int)iterations, residual, product);
  HYPRE_ParCSRPCGDestroy(solver);
  HYPRE_BoomerAMGDestroy(multigrid);
  HYPRE_IJMatrixDestroy(matrix);
  HYPRE_IJVectorDestroy(right);
  HYPRE_IJVectorDestroy(left);
  HYPRE_Finalize();
  MPI_Finalize();
  return 0;
}
