/* Included once per form of the interface: all collectives with one root. */
static void FORM(test_all)(int root) {
  enum { N = 5 };
  const MPI_Comm comm = MPI_COMM_WORLD;
  const size_t room = (size_t)size * N;
  int* in = malloc(room * sizeof(int));
  int* out = malloc(room * sizeof(int));
  COUNT* counts = malloc(size * sizeof(COUNT));
  COUNT* mine = malloc(size * sizeof(COUNT));
  DISPL* displs = malloc(size * sizeof(DISPL));
  DISPL* bytes = malloc(size * sizeof(DISPL));
  MPI_Datatype* types = malloc(size * sizeof(MPI_Datatype));
  const int at_root = rank == root;
  int good = 1, sum = 0;
  for (int r = 0; r < size; ++r) {
    counts[r] = ragged(r);
    mine[r] = ragged(rank);
    displs[r] = (DISPL)N * r;
    bytes[r] = displs[r] * (DISPL)sizeof(int);
    types[r] = MPI_INT;
  }
#define RESET                                                        \
  do {                                                               \
    for (int r = 0; r < size; ++r)                                   \
      for (int i = 0; i < N; ++i) in[r * N + i] = value(rank, r, i); \
    memset(out, 0xff, room * sizeof(int));                           \
    good = 1;                                                        \
  } while (0)
#define EACH(r, n)               \
  for (int r = 0; r < size; ++r) \
    for (int i = 0; i < (int)(n); ++i)

  RESET;
  FORM(MPI_Bcast)(in, N, MPI_INT, root, comm);
  for (int i = 0; i < N; ++i) good &= in[i] == value(root, 0, i);
  check(good, TEXT(MPI_Bcast));

  RESET;
  FORM(MPI_Gather)(in, N, MPI_INT, out, at_root ? N : IGNORED, MPI_INT, root, comm);
  if (at_root) EACH(r, N) good &= out[r * N + i] == value(r, 0, i);
  check(good, TEXT(MPI_Gather));

  RESET; /* in place at the root */
  memcpy(out + rank * N, in, N * sizeof(int));
  FORM(MPI_Gather)
  (at_root ? MPI_IN_PLACE : in, at_root ? IGNORED : N, MPI_INT, out, at_root ? N : IGNORED, MPI_INT,
   root, comm);
  if (at_root) EACH(r, N) good &= out[r * N + i] == value(r, 0, i);
  check(good, TEXT(MPI_Gather) " in place");

  RESET;
  FORM(MPI_Gatherv)
  (in, ragged(rank), MPI_INT, out, at_root ? counts : NULL, at_root ? displs : NULL, MPI_INT, root,
   comm);
  if (at_root) EACH(r, ragged(r)) good &= out[r * N + i] == value(r, 0, i);
  check(good, TEXT(MPI_Gatherv));

  RESET;
  FORM(MPI_Scatter)(in, at_root ? N : IGNORED, MPI_INT, out, N, MPI_INT, root, comm);
  for (int i = 0; i < N; ++i) good &= out[i] == value(root, rank, i);
  check(good, TEXT(MPI_Scatter));

  RESET; /* in place at the root */
  FORM(MPI_Scatter)
  (in, at_root ? N : IGNORED, MPI_INT, at_root ? MPI_IN_PLACE : out, at_root ? IGNORED : N, MPI_INT,
   root, comm);
  for (int i = 0; i < N && !at_root; ++i) good &= out[i] == value(root, rank, i);
  check(good, TEXT(MPI_Scatter) " in place");

  RESET;
  FORM(MPI_Scatterv)
  (in, at_root ? counts : NULL, at_root ? displs : NULL, MPI_INT, out, ragged(rank), MPI_INT, root,
   comm);
  for (int i = 0; i < ragged(rank); ++i) good &= out[i] == value(root, rank, i);
  check(good, TEXT(MPI_Scatterv));

  RESET;
  FORM(MPI_Allgather)(in, N, MPI_INT, out, N, MPI_INT, comm);
  EACH(r, N) good &= out[r * N + i] == value(r, 0, i);
  check(good, TEXT(MPI_Allgather));

  RESET;
  FORM(MPI_Allgatherv)(in, ragged(rank), MPI_INT, out, counts, displs, MPI_INT, comm);
  EACH(r, ragged(r)) good &= out[r * N + i] == value(r, 0, i);
  check(good, TEXT(MPI_Allgatherv));

  RESET;
  FORM(MPI_Alltoall)(in, N, MPI_INT, out, N, MPI_INT, comm);
  EACH(r, N) good &= out[r * N + i] == value(r, rank, i);
  check(good, TEXT(MPI_Alltoall));

  RESET;
  FORM(MPI_Alltoallv)(in, counts, displs, MPI_INT, out, mine, displs, MPI_INT, comm);
  EACH(r, ragged(rank)) good &= out[r * N + i] == value(r, rank, i);
  check(good, TEXT(MPI_Alltoallv));

  RESET; /* in place: what rank a has for b and b for a changes places; equal counts of 2 */
  for (int r = 0; r < size; ++r) counts[r] = 2;
  FORM(MPI_Alltoallv)
  (MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, displs, MPI_INT, comm);
  EACH(r, 2) good &= in[r * N + i] == value(r, rank, i);
  for (int r = 0; r < size; ++r) counts[r] = ragged(r);
  check(good, TEXT(MPI_Alltoallv) " in place");

  RESET;
  FORM(MPI_Alltoallw)(in, counts, bytes, types, out, mine, bytes, types, comm);
  EACH(r, ragged(rank)) good &= out[r * N + i] == value(r, rank, i);
  check(good, TEXT(MPI_Alltoallw));

  RESET;
  FORM(MPI_Reduce)(in, at_root ? out : NULL, N, MPI_INT, MPI_SUM, root, comm);
  for (int i = 0; i < N && at_root; ++i) {
    sum = 0;
    for (int r = 0; r < size; ++r) sum += value(r, 0, i);
    good &= out[i] == sum;
  }
  check(good, TEXT(MPI_Reduce));

  RESET;
  FORM(MPI_Allreduce)(MPI_IN_PLACE, in, N, MPI_INT, MPI_MAX, comm);
  for (int i = 0; i < N; ++i) good &= in[i] == value(size - 1, 0, i);
  check(good, TEXT(MPI_Allreduce) " in place");

  RESET;
  FORM(MPI_Reduce_scatter_block)(in, out, N, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < N; ++i) {
    sum = 0;
    for (int r = 0; r < size; ++r) sum += value(r, rank, i);
    good &= out[i] == sum;
  }
  check(good, TEXT(MPI_Reduce_scatter_block));

  RESET; /* the blocks lie one after the other: 0, 1, 2, 0, ... elements */
  FORM(MPI_Reduce_scatter)(in, out, counts, MPI_INT, MPI_MIN, comm);
  sum = 0;
  for (int r = 0; r < rank; ++r) sum += ragged(r);
  for (int i = 0; i < ragged(rank); ++i) good &= out[i] == value(0, (sum + i) / N, (sum + i) % N);
  check(good, TEXT(MPI_Reduce_scatter));

  RESET;
  FORM(MPI_Scan)(in, out, N, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < N; ++i) {
    sum = 0;
    for (int r = 0; r <= rank; ++r) sum += value(r, 0, i);
    good &= out[i] == sum;
  }
  check(good, TEXT(MPI_Scan));

  RESET;
  FORM(MPI_Exscan)(in, out, N, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < N && rank > 0; ++i) {
    sum = 0;
    for (int r = 0; r < rank; ++r) sum += value(r, 0, i);
    good &= out[i] == sum;
  }
  check(good, TEXT(MPI_Exscan));

#undef RESET
#undef EACH
  free(in);
  free(out);
  free(counts);
  free(mine);
  free(displs);
  free(bytes);
  free(types);
}

/* Everybody sends to rank 0, and rank 0 alone receives: who sends to how many is not who receives.
 */
static void FORM(test_neighbours)(void) {
  enum { N = 5 };
  const int to = 0, one = 1, sources = rank == 0 ? size : 0;
  const size_t room = (size_t)size * N;
  MPI_Comm star;
  int* in = malloc(room * sizeof(int));
  int* out = malloc(room * sizeof(int));
  int* from = malloc(size * sizeof(int));
  int* weights = malloc(size * sizeof(int));
  COUNT* counts = malloc(size * sizeof(COUNT));
  DISPL* displs = malloc(size * sizeof(DISPL));
  MPI_Aint* bytes = malloc(size * sizeof(MPI_Aint));
  MPI_Datatype* types = malloc(size * sizeof(MPI_Datatype));
  const COUNT mine = ragged(rank);
  const DISPL at_start = 0;
  const MPI_Aint no_bytes = 0;
  const MPI_Datatype type = MPI_INT;
  int good = 1;
  for (int r = 0; r < size; ++r) {
    from[r] = r;
    weights[r] = 1;
    counts[r] = ragged(r);
    displs[r] = (DISPL)N * r;
    bytes[r] = (MPI_Aint)(N * sizeof(int)) * r;
    types[r] = MPI_INT;
  }
  for (int i = 0; i < N; ++i) in[i] = value(rank, 0, i);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, sources, from, weights, 1, &to, &one,
                                 MPI_INFO_NULL, 0, &star);
#define GATHERED(n, name)                                                          \
  do {                                                                             \
    for (int r = 0; r < sources; ++r)                                              \
      for (int i = 0; i < (int)(n); ++i) good &= out[r * N + i] == value(r, 0, i); \
    check(good, name);                                                             \
    memset(out, 0xff, room * sizeof(int));                                         \
    good = 1;                                                                      \
  } while (0)
  FORM(MPI_Neighbor_allgather)(in, N, MPI_INT, out, N, MPI_INT, star);
  GATHERED(N, TEXT(MPI_Neighbor_allgather));
  FORM(MPI_Neighbor_allgatherv)(in, mine, MPI_INT, out, counts, displs, MPI_INT, star);
  GATHERED(ragged(r), TEXT(MPI_Neighbor_allgatherv));
  FORM(MPI_Neighbor_alltoall)(in, N, MPI_INT, out, N, MPI_INT, star);
  GATHERED(N, TEXT(MPI_Neighbor_alltoall));
  FORM(MPI_Neighbor_alltoallv)
  (in, &mine, &at_start, MPI_INT, out, counts, displs, MPI_INT, star);
  GATHERED(ragged(r), TEXT(MPI_Neighbor_alltoallv));
  FORM(MPI_Neighbor_alltoallw)(in, &mine, &no_bytes, &type, out, counts, bytes, types, star);
  GATHERED(ragged(r), TEXT(MPI_Neighbor_alltoallw));
#undef GATHERED
  MPI_Comm_free(&star);
  free(in);
  free(out);
  free(from);
  free(weights);
  free(counts);
  free(displs);
  free(bytes);
  free(types);
}

/* Between two groups: what is not significant in MPI_PROC_NULL's ranks is left out. The root is the
 * first of the odd ranks; evens send to or receive from it. */
static void FORM(test_inter)(MPI_Comm inter) {
  int others, good = 1;
  MPI_Comm_remote_size(inter, &others);
  const int odd = rank % 2, at_root = rank == 1;
  const int root = !odd ? 0 : at_root ? MPI_ROOT : MPI_PROC_NULL;
  int x[2] = {rank, 10 * rank};
  int* out = malloc(2 * (size_t)others * sizeof(int));
  COUNT* twos = malloc((size_t)others * sizeof(COUNT));
  DISPL* displs = malloc((size_t)others * sizeof(DISPL));
  for (int r = 0; r < others; ++r) {
    twos[r] = 2;
    displs[r] = (DISPL)2 * r;
  }

  FORM(MPI_Bcast)(x, odd && !at_root ? IGNORED : 2, MPI_INT, root, inter);
  if (!odd) good = x[0] == 1 && x[1] == 10;
  check(good, TEXT(MPI_Bcast) " between groups");

  x[0] = rank, x[1] = 10 * rank;
  FORM(MPI_Gatherv)
  (x, odd ? IGNORED : 2, MPI_INT, out, at_root ? twos : NULL, at_root ? displs : NULL, MPI_INT,
   root, inter);
  for (int r = 0; r < others && at_root; ++r)
    good &= out[2 * r] == 2 * r && out[2 * r + 1] == 20 * r;
  check(good, TEXT(MPI_Gatherv) " between groups");

  good = 1;
  FORM(MPI_Scatter)
  (out, at_root ? 2 : IGNORED, MPI_INT, x, odd ? IGNORED : 2, MPI_INT, root, inter);
  if (!odd) good = x[0] == rank && x[1] == 10 * rank;
  check(good, TEXT(MPI_Scatter) " between groups");

  FORM(MPI_Allgatherv)(x, 2, MPI_INT, out, twos, displs, MPI_INT, inter);
  for (int r = 0; r < others; ++r) good &= out[2 * r] == 2 * r + !odd;
  check(good, TEXT(MPI_Allgatherv) " between groups");

  FORM(MPI_Allreduce)(x, out, 1, MPI_INT, MPI_SUM, inter);
  good = out[0] == others * (others - 1) + !odd * others;
  check(good, TEXT(MPI_Allreduce) " between groups");
  free(out);
  free(twos);
  free(displs);
}
