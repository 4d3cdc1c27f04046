// What Unisono sends in MPI_Init: on a node the first rows of the table of
// src/runtime/start_messages.h, each once, in that order, and none longer than 4 KiB. What the
// program defines as PMPI_* is called first, by Unisono too.
#include <algorithm>
#include <cstring>

#include "check.h"
#include "next_function.h"
#include "src/runtime/start_messages.h"

namespace {

struct Sent {
  const char* call;
  std::size_t bytes;
};

bool g_counts = false;
std::vector<Sent> g_sent;

std::size_t bytes_of(MPI_Count count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

void note(const char* call, MPI_Comm comm, std::size_t bytes) {
  int size = 1;
  PMPI_Comm_size(comm, &size);
  if (g_counts && size > 1) g_sent.push_back({call, bytes});
}

}  // namespace

#define NOTED(name, parameters, bytes, arguments)                                \
  extern "C" __attribute__((visibility("default"))) int PMPI_##name parameters { \
    note(#name, comm, bytes);                                                    \
    static const auto found = next_function<int parameters>("PMPI_" #name);      \
    return found arguments;                                                      \
  }

NOTED(Allreduce, (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      bytes_of(n, type), (in, out, n, type, op, comm))
NOTED(Iallreduce,
      (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
       MPI_Request* request),
      bytes_of(n, type), (in, out, n, type, op, comm, request))
NOTED(Bcast, (void* data, int n, MPI_Datatype type, int root, MPI_Comm comm), bytes_of(n, type),
      (data, n, type, root, comm))
NOTED(Ibcast, (void* data, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
      bytes_of(n, type), (data, n, type, root, comm, request))
NOTED(Barrier, (MPI_Comm comm), 0, (comm))
NOTED(Ibarrier, (MPI_Comm comm, MPI_Request* request), 0, (comm, request))
NOTED(Gather,
      (const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype to, int root,
       MPI_Comm comm),
      bytes_of(n, type), (in, n, type, out, m, to, root, comm))
NOTED(Allgather,
      (const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype to, MPI_Comm comm),
      bytes_of(n, type), (in, n, type, out, m, to, comm))
NOTED(Send, (const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
      bytes_of(n, type), (data, n, type, to, tag, comm))
NOTED(Isend,
      (const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
       MPI_Request* request),
      bytes_of(n, type), (data, n, type, to, tag, comm, request))
NOTED(Recv,
      (void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* is),
      bytes_of(n, type), (data, n, type, from, tag, comm, is))
NOTED(Irecv,
      (void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
       MPI_Request* request),
      bytes_of(n, type), (data, n, type, from, tag, comm, request))
NOTED(Sendrecv,
      (const void* in, int n, MPI_Datatype type, int to, int tag, void* out, int m, MPI_Datatype as,
       int from, int other, MPI_Comm comm, MPI_Status* is),
      bytes_of(n, type), (in, n, type, to, tag, out, m, as, from, other, comm, is))
NOTED(Reduce,
      (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
      bytes_of(n, type), (in, out, n, type, op, root, comm))
NOTED(Ireduce,
      (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
       MPI_Request* request),
      bytes_of(n, type), (in, out, n, type, op, root, comm, request))
NOTED(Scan, (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      bytes_of(n, type), (in, out, n, type, op, comm))
NOTED(Exscan, (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      bytes_of(n, type), (in, out, n, type, op, comm))
NOTED(Igather,
      (const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype to, int root,
       MPI_Comm comm, MPI_Request* request),
      bytes_of(n, type), (in, n, type, out, m, to, root, comm, request))
NOTED(Iallgather,
      (const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype to, MPI_Comm comm,
       MPI_Request* request),
      bytes_of(n, type), (in, n, type, out, m, to, comm, request))
NOTED(Alltoall,
      (const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype to, MPI_Comm comm),
      bytes_of(n, type), (in, n, type, out, m, to, comm))
NOTED(Ialltoall,
      (const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype to, MPI_Comm comm,
       MPI_Request* request),
      bytes_of(n, type), (in, n, type, out, m, to, comm, request))
NOTED(Send_init,
      (const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
       MPI_Request* request),
      bytes_of(n, type), (data, n, type, to, tag, comm, request))
NOTED(Recv_init,
      (void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
       MPI_Request* request),
      bytes_of(n, type), (data, n, type, from, tag, comm, request))
#if MPI_VERSION >= 4
NOTED(Allreduce_init,
      (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info,
       MPI_Request* request),
      bytes_of(n, type), (in, out, n, type, op, comm, info, request))
NOTED(Bcast_init,
      (void* data, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Info info,
       MPI_Request* request),
      bytes_of(n, type), (data, n, type, root, comm, info, request))
NOTED(Allreduce_c,
      (const void* in, void* out, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      bytes_of(n, type), (in, out, n, type, op, comm))
NOTED(Iallreduce_c,
      (const void* in, void* out, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
       MPI_Request* request),
      bytes_of(n, type), (in, out, n, type, op, comm, request))
NOTED(Bcast_c, (void* data, MPI_Count n, MPI_Datatype type, int root, MPI_Comm comm),
      bytes_of(n, type), (data, n, type, root, comm))
NOTED(Ibcast_c,
      (void* data, MPI_Count n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
      bytes_of(n, type), (data, n, type, root, comm, request))
NOTED(Send_c, (const void* data, MPI_Count n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
      bytes_of(n, type), (data, n, type, to, tag, comm))
NOTED(Isend_c,
      (const void* data, MPI_Count n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
       MPI_Request* request),
      bytes_of(n, type), (data, n, type, to, tag, comm, request))
#endif
NOTED(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made), 0, (comm, color, key, made))
NOTED(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made), 0,
      (comm, type, key, info, made))
NOTED(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made), 0, (comm, group, made))
NOTED(Comm_dup, (MPI_Comm comm, MPI_Comm* made), 0, (comm, made))

namespace {

/// The rows for a node, each once and in their order; none where a rank is alone.
bool is_as_listed(bool alone) {
  const auto* const rows = std::begin(unisono::kStartMessages);
  const int listed = alone ? 0 : unisono::kStartCallsOnNode;
  return std::equal(g_sent.begin(), g_sent.end(), rows, rows + listed,
                    [](const Sent& sent, const unisono::StartMessage& row) {
                      return row.call == sent.call && row.bytes >= sent.bytes;
                    });
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::size_t kMostBytes = 4 << 10;
  g_counts = true;
  MPI_Init(&argc, &argv);
  g_counts = false;
  for (const Sent& sent : g_sent) {
    if (std::getenv("CONFORMANCE_SHOW") != nullptr)
      std::printf("%s of %zu bytes\n", sent.call, sent.bytes);
    CHECK(sent.bytes <= kMostBytes);
  }
  const bool alone = conformance::size_of(MPI_COMM_WORLD) == 1;
  CHECK(is_as_listed(alone));
  conformance::force_all();
  int me = conformance::rank_in(MPI_COMM_WORLD), sum = 0;
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  conformance::passed("start_messages", alone ? 0 : 1, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
