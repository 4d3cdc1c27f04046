/* Every collective that has a persistent form, once in a loop. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64, ROUNDS = 3 };

static void fill(int rank, int* from, int* to, int* counts, int* displs, int* bytes,
                 MPI_Datatype* types) {
  for (int p = 0; p < MOST; p++) {
    from[p] = 10 * rank + p;
    to[p] = 0;
    counts[p] = 1;
    displs[p] = p;
    bytes[p] = p * (int)sizeof(int);
    types[p] = MPI_INT;
  }
}

int main(int argc, char** argv) {
  int rank, size, periodic = 1;
  int from[MOST], to[MOST], counts[MOST], displs[MOST], bytes[MOST];
  MPI_Datatype types[MOST];
  MPI_Aint steps[2] = {0, sizeof(int)};
  MPI_Comm ring;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  MPI_Comm_rank(ring, &rank);
  fill(rank, from, to, counts, displs, bytes, types);
  long sum = 0;
  for (int i = 0; i < ROUNDS; i++) {
    MPI_Barrier(ring);
    MPI_Bcast(from, 2, MPI_INT, size - 1, ring);
    MPI_Gather(from, 1, MPI_INT, to, 1, MPI_INT, 0, ring);
    from[2] += to[size - 1];
    MPI_Gatherv(from, 1, MPI_INT, to, counts, displs, MPI_INT, 0, ring);
    sum = 3 * sum + to[size - 1];
    MPI_Scatter(to, 1, MPI_INT, from, 1, MPI_INT, 0, ring);
    MPI_Scatterv(to, counts, displs, MPI_INT, from + 1, 1, MPI_INT, 0, ring);
    sum = 3 * sum + from[0] + 2 * from[1];
    MPI_Allgather(from, 1, MPI_INT, to, 1, MPI_INT, ring);
    sum = 3 * sum + to[1];
    MPI_Allgatherv(from, 1, MPI_INT, to, counts, displs, MPI_INT, ring);
    sum = 3 * sum + to[size - 1];
    MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, ring);
    sum = 3 * sum + to[1];
    MPI_Alltoallv(from, counts, displs, MPI_INT, to, counts, displs, MPI_INT, ring);
    sum = 3 * sum + to[0];
    MPI_Alltoallw(from, counts, bytes, types, to, counts, bytes, types, ring);
    sum = 3 * sum + to[1];
    MPI_Allreduce(from, to, 4, MPI_INT, MPI_SUM, ring);
    sum = 3 * sum + to[3];
    MPI_Reduce(from, to, 4, MPI_INT, MPI_MAX, size - 1, ring);
    sum = 3 * sum + to[2];
    MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, ring);
    sum = 3 * sum + to[0];
    MPI_Reduce_scatter_block(from, to, 1, MPI_INT, MPI_MIN, ring);
    sum = 3 * sum + to[0];
    MPI_Scan(from, to, 2, MPI_INT, MPI_SUM, ring);
    sum = 3 * sum + to[1];
    MPI_Exscan(from, to, 2, MPI_INT, MPI_SUM, ring);
    sum = 3 * sum + (rank > 0 ? to[1] : 0);
    MPI_Neighbor_allgather(from, 1, MPI_INT, to, 1, MPI_INT, ring);
    MPI_Neighbor_allgatherv(to + 1, 1, MPI_INT, to + 2, counts, displs, MPI_INT, ring);
    sum = 3 * sum + to[0] + to[3];
    MPI_Neighbor_alltoall(from, 1, MPI_INT, to, 1, MPI_INT, ring);
    sum = 3 * sum + to[0];
    MPI_Neighbor_alltoallv(from, counts, displs, MPI_INT, to, counts, displs, MPI_INT, ring);
    sum = 3 * sum + to[1];
    MPI_Neighbor_alltoallw(from, counts, steps, types, to, counts, steps, types, ring);
    sum = 3 * sum + to[0];
    from[i % 4] += (int)(sum % 7);
  }
  printf("rank %d: %ld\n", rank, sum);
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return 0;
}
