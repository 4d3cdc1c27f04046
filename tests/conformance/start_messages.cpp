// What Unisono sends in MPI_Init: each message is in the table of src/runtime/start_messages.h,
// none within a node is longer than 4 KiB, and the ranks of a node call each other a few times
// only. What the program defines as PMPI_* is called first, by Unisono too.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "check.h"
#include "src/runtime/start_messages.h"

namespace {

struct Sent {
  const char* call;
  std::size_t bytes;
};

bool g_counts = false;
std::vector<Sent> g_sent;

std::size_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

void note(const char* call, MPI_Comm comm, std::size_t bytes) {
  int size = 1;
  PMPI_Comm_size(comm, &size);
  if (g_counts && size > 1) g_sent.push_back({call, bytes});
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define NOTED(name, parameters, bytes, arguments)                                \
  extern "C" __attribute__((visibility("default"))) int PMPI_##name parameters { \
    note(#name, comm, bytes);                                                    \
    static const auto found = next<int(*) parameters>("PMPI_" #name);            \
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
NOTED(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made), 0, (comm, color, key, made))
NOTED(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made), 0,
      (comm, type, key, info, made))
NOTED(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made), 0, (comm, group, made))
NOTED(Comm_dup, (MPI_Comm comm, MPI_Comm* made), 0, (comm, made))

namespace {

bool is_in_table(const Sent& sent) {
  return std::any_of(std::begin(unisono::kStartMessages), std::end(unisono::kStartMessages),
                     [&](const unisono::StartMessage& row) {
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
    CHECK(is_in_table(sent));
  }
  const bool alone = conformance::size_of(MPI_COMM_WORLD) == 1;
  const auto calls = static_cast<int>(g_sent.size());
  if (std::getenv("CONFORMANCE_SHOW") == nullptr)
    CHECK(alone ? calls == 0 : calls > 0 && calls <= unisono::kStartCallsOnNode);
  conformance::force_all();
  int me = conformance::rank_in(MPI_COMM_WORLD), sum = 0;
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  conformance::passed("start_messages", alone ? 0 : 1, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
