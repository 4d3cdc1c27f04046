/* An integer sort in the shape of NAS IS: keys go to the rank that has their bucket. How many go
 * where is new in each iteration, so that the MPI_Alltoallv must stay; the others need not. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 256, LARGEST = 1024, ITERATIONS = 5, MOST = 64 };

static int keys[KEYS];
static int sorted[KEYS * MOST];
static int received[KEYS * MOST];
static int bucket_size[MOST], bucket_total[MOST];
static int send_count[MOST], send_displ[MOST], recv_count[MOST], recv_displ[MOST];

static void create(int rank) {
  unsigned next = 12345u + (unsigned)rank;
  for (int i = 0; i < KEYS; i++) {
    next = next * 1103515245u + 12345u;
    keys[i] = (int)((next >> 16) % LARGEST);
  }
}

static void count_buckets(int size) {
  for (int p = 0; p < size; p++) {
    bucket_size[p] = 0;
  }
  for (int i = 0; i < KEYS; i++) {
    bucket_size[keys[i] * size / LARGEST]++;
  }
}

static void fill_buckets(int size) {
  int next[MOST];
  send_displ[0] = 0;
  for (int p = 0; p < size; p++) {
    send_count[p] = bucket_size[p];
    next[p] = p == 0 ? 0 : send_displ[p - 1] + send_count[p - 1];
    send_displ[p] = next[p];
  }
  for (int i = 0; i < KEYS; i++) {
    sorted[next[keys[i] * size / LARGEST]++] = keys[i];
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  create(rank);
  long check = 0;
  for (int iteration = 1; iteration <= ITERATIONS; iteration++) {
    keys[iteration] = iteration;
    keys[iteration + ITERATIONS] = LARGEST - iteration;
    count_buckets(size);
    MPI_Allreduce(bucket_size, bucket_total, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    fill_buckets(size);
    MPI_Alltoall(send_count, 1, MPI_INT, recv_count, 1, MPI_INT, MPI_COMM_WORLD);
    int arriving = 0;
    for (int p = 0; p < size; p++) {
      recv_displ[p] = arriving;
      arriving += recv_count[p];
    }
    MPI_Alltoallv(sorted, send_count, send_displ, MPI_INT, received, recv_count, recv_displ,
                  MPI_INT, MPI_COMM_WORLD);
    for (int k = 0; k < arriving; k++) {
      check += (long)received[k] * iteration;
    }
    check += bucket_total[rank] - arriving;
  }
  printf("rank %d: %ld\n", rank, check);
  MPI_Finalize();
  return 0;
}
