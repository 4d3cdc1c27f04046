/* Every blocking collective, in its plain and its large-count form, against values worked out here.
 * The large-count forms of MPI libraries without them are Unisono's; without either, not tested. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, failures;

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "rank %d of %d: %s: wrong result\n", rank, size, what);
  ++failures;
}

/* The element i of the block that `from` sends to `to`. */
static int value(int from, int to, int i) { return 10000 * from + 100 * to + i + 1; }

/* Ragged blocks: rank r has r % 3 elements. */
static int ragged(int r) { return r % 3; }

/* An inter-communicator between the even and the odd ranks. */
static MPI_Comm join_halves(void) {
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &inter);
  MPI_Comm_free(&half);
  return inter;
}

#define FORM(name) name
#define TEXT(name) #name
#define COUNT int
#define DISPL int
#define IGNORED 77 /* for counts that are not significant */
#include "collectives_body.h"
#undef FORM
#undef TEXT
#undef COUNT
#undef DISPL
#undef IGNORED

#ifdef OPEN_MPI
#define LARGE(name, ...) __attribute__((weak)) int name(__VA_ARGS__)
typedef MPI_Datatype T;
typedef MPI_Comm C;
LARGE(MPI_Bcast_c, void*, MPI_Count, T, int, C);
LARGE(MPI_Gather_c, const void*, MPI_Count, T, void*, MPI_Count, T, int, C);
LARGE(MPI_Gatherv_c, const void*, MPI_Count, T, void*, const MPI_Count*, const MPI_Aint*, T, int,
      C);
LARGE(MPI_Scatter_c, const void*, MPI_Count, T, void*, MPI_Count, T, int, C);
LARGE(MPI_Scatterv_c, const void*, const MPI_Count*, const MPI_Aint*, T, void*, MPI_Count, T, int,
      C);
LARGE(MPI_Allgather_c, const void*, MPI_Count, T, void*, MPI_Count, T, C);
LARGE(MPI_Allgatherv_c, const void*, MPI_Count, T, void*, const MPI_Count*, const MPI_Aint*, T, C);
LARGE(MPI_Alltoall_c, const void*, MPI_Count, T, void*, MPI_Count, T, C);
LARGE(MPI_Alltoallv_c, const void*, const MPI_Count*, const MPI_Aint*, T, void*, const MPI_Count*,
      const MPI_Aint*, T, C);
LARGE(MPI_Alltoallw_c, const void*, const MPI_Count*, const MPI_Aint*, const T*, void*,
      const MPI_Count*, const MPI_Aint*, const T*, C);
LARGE(MPI_Reduce_c, const void*, void*, MPI_Count, T, MPI_Op, int, C);
LARGE(MPI_Allreduce_c, const void*, void*, MPI_Count, T, MPI_Op, C);
LARGE(MPI_Reduce_scatter_block_c, const void*, void*, MPI_Count, T, MPI_Op, C);
LARGE(MPI_Reduce_scatter_c, const void*, void*, const MPI_Count*, T, MPI_Op, C);
LARGE(MPI_Scan_c, const void*, void*, MPI_Count, T, MPI_Op, C);
LARGE(MPI_Exscan_c, const void*, void*, MPI_Count, T, MPI_Op, C);
LARGE(MPI_Neighbor_allgather_c, const void*, MPI_Count, T, void*, MPI_Count, T, C);
LARGE(MPI_Neighbor_allgatherv_c, const void*, MPI_Count, T, void*, const MPI_Count*,
      const MPI_Aint*, T, C);
LARGE(MPI_Neighbor_alltoall_c, const void*, MPI_Count, T, void*, MPI_Count, T, C);
LARGE(MPI_Neighbor_alltoallv_c, const void*, const MPI_Count*, const MPI_Aint*, T, void*,
      const MPI_Count*, const MPI_Aint*, T, C);
LARGE(MPI_Neighbor_alltoallw_c, const void*, const MPI_Count*, const MPI_Aint*, const T*, void*,
      const MPI_Count*, const MPI_Aint*, const T*, C);
#define HAS_LARGE (MPI_Bcast_c != NULL)
#else
#define HAS_LARGE 1
#endif

#define FORM(name) name##_c
#define TEXT(name) #name "_c"
#define COUNT MPI_Count
#define DISPL MPI_Aint
#define IGNORED ((MPI_Count)1 << 40)
#include "collectives_body.h"

#ifdef OPEN_MPI
/* What does not fit in an int is an error of its own class, not a wrapped count. */
static void test_overflow(void) {
  int x = 0, class = 0;
  if (!HAS_LARGE) return;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Bcast_c(&x, (MPI_Count)3 << 30, MPI_INT, 0, MPI_COMM_WORLD), &class);
  check(class == MPI_ERR_COUNT, "MPI_Bcast_c with a count beyond int");
}
#else
static void test_overflow(void) {}
#endif

static void nothing(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in, (void)inout, (void)count, (void)type;
}

static void test_operation(void) {
  MPI_Op op;
  MPI_Op_create(nothing, 1, &op);
  const int code = MPI_Op_free(&op);
  check(code == MPI_SUCCESS && op == MPI_OP_NULL, "Op_free");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int root = 0; root < size; ++root) {
    MPI_Barrier(MPI_COMM_WORLD);
    test_all(root);
    if (HAS_LARGE) test_all_c(root);
  }
  test_neighbours();
  if (HAS_LARGE) test_neighbours_c();
  if (size > 1) {
    MPI_Comm inter = join_halves();
    test_inter(inter);
    if (HAS_LARGE) test_inter_c(inter);
    MPI_Comm_free(&inter);
  }
  test_overflow();
  test_operation();
  int all = 0;
  MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%s, large counts: %s\n", all ? "FAILED" : "passed", HAS_LARGE ? "yes" : "no");
  MPI_Finalize();
  return failures != 0;
}
