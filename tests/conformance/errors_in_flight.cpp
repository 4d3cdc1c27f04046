// Wrong arguments of nonblocking and persistent collectives under MPI_ERRORS_RETURN, alike on all
// ranks: the error is the call's own, of the class that the MPI library alone gives; handlers are
// called as often as natively; nothing is left in flight, and what follows works.
#include "check.h"

namespace {

int g_handled = 0;
void on_error(MPI_Comm*, int*, ...) { ++g_handled; }

using conformance::class_of;

MPI_Errhandler g_handler = MPI_ERRHANDLER_NULL;

/// What became of a call: the error's class where the library gives it back, and how often a
/// handler was told. (What MPICH 5.0.2 gives back after a handler is MPI_SUCCESS.)
struct Outcome {
  int error_class, handled;
  bool operator==(const Outcome&) const = default;
};

/// `call` takes a request, which must not be left in flight by an error.
template <class Call>
Outcome outcome(MPI_Comm comm, const Call& call) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int code = call(&request);
  CHECK(code == MPI_SUCCESS || request == MPI_REQUEST_NULL);
  g_handled = 0;
  MPI_Comm_set_errhandler(comm, g_handler);
  call(&request);
  return {class_of(code), g_handled};
}

void same(const char* what, Outcome ours, Outcome native) {
  if (ours != native)
    std::fprintf(stderr, "%s: class %d, handled %d; natively %d, %d\n", what, ours.error_class,
                 ours.handled, native.error_class, native.handled);
  CHECK(ours == native);
  CHECK(ours.error_class != MPI_SUCCESS && ours.handled == 1);
}
#define START_REFUSED(call, ...)                                                              \
  same(#call " " #__VA_ARGS__,                                                                \
       outcome(comm, [&](MPI_Request* request) { return MPI_##call(__VA_ARGS__, request); }), \
       outcome(comm, [&](MPI_Request* request) { return PMPI_##call(__VA_ARGS__, request); }))
#define BOTH_REFUSED(nonblocking, persistent, ...)         \
  do {                                                     \
    START_REFUSED(nonblocking, __VA_ARGS__);               \
    START_REFUSED(persistent, __VA_ARGS__, MPI_INFO_NULL); \
  } while (false)

void good(MPI_Comm comm) {
  const int one = 1, size = conformance::size_of(comm);
  int sums[2] = {-1, -1};
  MPI_Request requests[2];
  CHECK(MPI_Iallreduce(&one, &sums[0], 1, MPI_INT, MPI_SUM, comm, &requests[0]) == MPI_SUCCESS);
  CHECK(MPI_Allreduce_init(&one, &sums[1], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL,
                           &requests[1]) == MPI_SUCCESS);
  MPI_Start(&requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(sums[0] == size && sums[1] == size);
  MPI_Request_free(&requests[1]);
}

void wrong_arguments(MPI_Comm comm) {
  const int size = conformance::size_of(comm);
  std::vector<int> a(100), b(static_cast<std::size_t>(100 * size));
  int* const from = a.data();
  int* const to = b.data();
  for (const int root : {-1, size, size + 1000}) {
    BOTH_REFUSED(Ibcast, Bcast_init, from, 1, MPI_INT, root, comm);
    BOTH_REFUSED(Ireduce, Reduce_init, from, to, 1, MPI_INT, MPI_SUM, root, comm);
    BOTH_REFUSED(Igather, Gather_init, from, 1, MPI_INT, to, 1, MPI_INT, root, comm);
    BOTH_REFUSED(Iscatter, Scatter_init, to, 1, MPI_INT, from, 1, MPI_INT, root, comm);
  }
  // Not of reductions and v-collectives: see error_codes.cpp.
  BOTH_REFUSED(Ibcast, Bcast_init, from, -1, MPI_INT, 0, comm);
  BOTH_REFUSED(Iallgather, Allgather_init, from, -1, MPI_INT, to, -1, MPI_INT, comm);
  BOTH_REFUSED(Ialltoall, Alltoall_init, from, -1, MPI_INT, to, -1, MPI_INT, comm);
  BOTH_REFUSED(Ibcast, Bcast_init, from, 1, MPI_DATATYPE_NULL, 0, comm);
  BOTH_REFUSED(Iallgather, Allgather_init, from, 1, MPI_DATATYPE_NULL, to, 1, MPI_DATATYPE_NULL,
               comm);
  BOTH_REFUSED(Iallreduce, Allreduce_init, from, to, 1, MPI_INT, MPI_OP_NULL, comm);
  BOTH_REFUSED(Iexscan, Exscan_init, from, to, 1, MPI_INT, MPI_OP_NULL, comm);
  // Operations that are not defined for the type.
  BOTH_REFUSED(Iallreduce, Allreduce_init, from, to, 1, MPI_DOUBLE, MPI_BAND, comm);
  BOTH_REFUSED(Ireduce, Reduce_init, from, to, 1, MPI_2INT, MPI_SUM, 0, comm);
  BOTH_REFUSED(Iscan, Scan_init, from, to, 1, MPI_INT, MPI_MINLOC, comm);
  // A datatype that is not committed.
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  BOTH_REFUSED(Ibcast, Bcast_init, from, 1, pair, 0, comm);
  BOTH_REFUSED(Iallgather, Allgather_init, from, 1, pair, to, 1, pair, comm);
  BOTH_REFUSED(Igather, Gather_init, from, 1, pair, to, 1, pair, 0, comm);
  MPI_Type_free(&pair);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  conformance::force_all();
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(on_error, &g_handler);
  good(comm);  // and from now on Unisono has what nonblocking calls need
  wrong_arguments(comm);
  good(comm);
  MPI_Errhandler_free(&g_handler);
  MPI_Comm_free(&comm);
  conformance::passed("errors_in_flight", 3, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
