/* Conjugate gradients for a matrix with three diagonals: MPI_Allgatherv for the product,
 * MPI_Allreduce for scalars, in a loop that ends where the residual is small. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64

static double dot(const double* a, const double* b, int n) {
  double sum = 0;
  for (int k = 0; k < n; k++) {
    sum += a[k] * b[k];
  }
  return sum;
}

static void multiply(const double* x, double* y, int first, int n) {
  for (int k = 0; k < n; k++) {
    int row = first + k;
    y[k] = 4 * x[row] - (row > 0 ? x[row - 1] : 0) - (row < N - 1 ? x[row + 1] : 0);
  }
}

static int solve(double* x, const int* counts, const int* displs, int first, int n, MPI_Comm comm) {
  double p_all[N], r[N], p[N], q[N];
  double local, rho, next, pq;
  int steps = 0;
  for (int k = 0; k < n; k++) {
    x[k] = 0;
    r[k] = p[k] = 1.0 + (first + k) % 3;
  }
  local = dot(r, r, n);
  MPI_Allreduce(&local, &rho, 1, MPI_DOUBLE, MPI_SUM, comm);
  while (sqrt(rho) > 1e-9 && steps < 100) {
    MPI_Allgatherv(p, n, MPI_DOUBLE, p_all, counts, displs, MPI_DOUBLE, comm);
    multiply(p_all, q, first, n);
    local = dot(p, q, n);
    MPI_Allreduce(&local, &pq, 1, MPI_DOUBLE, MPI_SUM, comm);
    for (int k = 0; k < n; k++) {
      x[k] += rho / pq * p[k];
      r[k] -= rho / pq * q[k];
    }
    local = dot(r, r, n);
    MPI_Allreduce(&local, &next, 1, MPI_DOUBLE, MPI_SUM, comm);
    for (int k = 0; k < n; k++) {
      p[k] = r[k] + next / rho * p[k];
    }
    rho = next;
    steps++;
  }
  return steps;
}

int main(int argc, char** argv) {
  int rank, size;
  double x[N];
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* counts = malloc(size * sizeof *counts);
  int* displs = malloc(size * sizeof *displs);
  for (int k = 0; k < size; k++) {
    counts[k] = N * (k + 1) / size - N * k / size;
    displs[k] = N * k / size;
  }
  int steps = solve(x, counts, displs, displs[rank], counts[rank], comm);
  printf("rank %d: %d steps, %.9f\n", rank, steps, x[0]);
  free(displs);
  free(counts);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
