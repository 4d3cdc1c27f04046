// What Unisono allocates for communicators that it runs no collective on: at most 4 KiB for each,
// whose first calls the MPI library runs.
#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "check.h"

namespace {

std::atomic<bool> g_counts{false};
std::atomic<std::size_t> g_bytes{0};

/// Of Unisono's library: the MPI library has its own needs. What is freed again counts, too.
void see(const void* caller, std::size_t bytes) {
  Dl_info info;
  if (!g_counts.exchange(false)) return;  // dladdr may allocate
  if (dladdr(caller, &info) != 0 && std::strstr(info.dli_fname, "libunisono") != nullptr)
    g_bytes += bytes;
  g_counts = true;
}

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* malloc(std::size_t bytes) {
  see(__builtin_return_address(0), bytes);
  return __libc_malloc(bytes);
}
void* __libc_calloc(std::size_t many, std::size_t bytes);
void* calloc(std::size_t many, std::size_t bytes) {
  see(__builtin_return_address(0), many * bytes);
  return __libc_calloc(many, bytes);
}
void* __libc_realloc(void* old, std::size_t bytes);
void* realloc(void* old, std::size_t bytes) {
  see(__builtin_return_address(0), bytes);
  return __libc_realloc(old, bytes);
}
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  see(__builtin_return_address(0), bytes);
  return __libc_memalign(alignment, bytes);
}
}

int main(int argc, char** argv) {
  constexpr std::size_t kCommunicators = 100, kMostEach = 4 << 10;
  MPI_Init(&argc, &argv);
  std::vector<MPI_Comm> held(kCommunicators);
  const int me = conformance::rank_in(MPI_COMM_WORLD), size = conformance::size_of(MPI_COMM_WORLD);
  g_counts = true;
  for (MPI_Comm& comm : held) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (const MPI_Comm comm : held) {
    int sum = 0;
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2);
    int data = me;
    MPI_Bcast(&data, 1, MPI_INT, 0, comm);
    MPI_Barrier(comm);
  }
  g_counts = false;
  if (me == 0) std::printf("%zu bytes for each communicator\n", g_bytes / kCommunicators);
  CHECK(g_bytes > 0);  // so they are seen
  CHECK(g_bytes <= kCommunicators * kMostEach);
  for (MPI_Comm& comm : held) MPI_Comm_free(&comm);
  conformance::force_all();
  int sum = 0;
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  conformance::passed("communicator_bytes", 1, 1);
  MPI_Finalize();
  return 0;
}
