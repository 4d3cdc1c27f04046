/* Eigenvalues of the Laplacian on a rectangle of N by N + 1 points, by SLEPc: slepc N, and SLEPc's options.
   On a square most of them are double, and rounding decides how many iterations the second of a pair takes. */
#include <slepceps.h>

int main(int argc, char** argv) {
  PetscCall(SlepcInitialize(&argc, &argv, NULL, NULL));
  const PetscInt side = argc > 1 ? atoi(argv[1]) : 40, rows = side + 1, points = side * rows;
  Mat matrix;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, points, points, 5, NULL, 4, NULL, &matrix));
  PetscInt begin, end;
  PetscCall(MatGetOwnershipRange(matrix, &begin, &end));
  for (PetscInt row = begin; row < end; ++row) {
    const PetscInt i = row / side, j = row % side;
    PetscCall(MatSetValue(matrix, row, row, 4.0, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(matrix, row, row - side, -1.0, INSERT_VALUES));
    if (i + 1 < rows) PetscCall(MatSetValue(matrix, row, row + side, -1.0, INSERT_VALUES));
    if (j > 0) PetscCall(MatSetValue(matrix, row, row - 1, -1.0, INSERT_VALUES));
    if (j + 1 < side) PetscCall(MatSetValue(matrix, row, row + 1, -1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  EPS solver;
  PetscCall(EPSCreate(PETSC_COMM_WORLD, &solver));
  PetscCall(EPSSetOperators(solver, matrix, NULL));
  PetscCall(EPSSetProblemType(solver, EPS_HEP));
  PetscCall(EPSSetFromOptions(solver));
  PetscCall(EPSSolve(solver));
  PetscInt iterations, converged;
  PetscCall(EPSGetIterationNumber(solver, &iterations));
  PetscCall(EPSGetConverged(solver, &converged));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations %d converged %d\n", (int)iterations, (int)converged));
  for (PetscInt i = 0; i < converged; ++i) {
    PetscScalar value;
    PetscReal error;
    PetscCall(EPSGetEigenvalue(solver, i, &value, NULL));
    PetscCall(EPSComputeError(solver, i, EPS_ERROR_RELATIVE, &error));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "eigenvalue %.17g error %.3g\n", (double)value, (double)error));
  }
  PetscCall(EPSDestroy(&solver));
  PetscCall(MatDestroy(&matrix));
  return SlepcFinalize();
}
