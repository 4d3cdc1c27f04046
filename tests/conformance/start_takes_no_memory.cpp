// A start of a persistent collective takes no memory in Unisono, once the first ones have made what
// they need. Says how long a start takes.
//
//   mpiexec -n P start_takes_no_memory [--time]
#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"

namespace {

std::atomic<bool> g_counts{false};
std::atomic<int> g_allocations{0};

/// Of Unisono's library: the MPI library has its own needs.
void see(const void* caller) {
  Dl_info info;
  if (!g_counts.exchange(false)) return;  // dladdr may allocate
  if (dladdr(caller, &info) != 0 && std::strstr(info.dli_fname, "libunisono") != nullptr)
    ++g_allocations;
  g_counts = true;
}

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* malloc(std::size_t bytes) {
  see(__builtin_return_address(0));
  return __libc_malloc(bytes);
}
void* __libc_calloc(std::size_t many, std::size_t bytes);
void* calloc(std::size_t many, std::size_t bytes) {
  see(__builtin_return_address(0));
  return __libc_calloc(many, bytes);
}
void* __libc_realloc(void* old, std::size_t bytes);
void* realloc(void* old, std::size_t bytes) {
  see(__builtin_return_address(0));
  return __libc_realloc(old, bytes);
}
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  see(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool timed = argc > 1 && std::string(argv[1]) == "--time";
  const int p = conformance::size_of(MPI_COMM_WORLD);
  for (const auto& [spec, count] : std::vector<std::pair<std::string, int>>{
           {"recursive_doubling", 2}, {"ring", 5000}, {"recursive_doubling", 100'000}}) {
    conformance::force("allreduce", spec);
    const std::vector<int> mine(static_cast<std::size_t>(count), 1);
    std::vector<int> sum(mine.size());
    MPI_Request request;
    g_counts = true;
    MPI_Allreduce_init(mine.data(), sum.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
    g_counts = false;
    CHECK(g_allocations.exchange(0) > 0);  // so they are seen
    const int rounds = timed && count < 10 ? 100'000 : 50;
    double seconds = 0;
    for (int round = 0; round < rounds; ++round) {
      g_counts = round > 5 && !timed;  // counting takes microseconds
      const double begin = PMPI_Wtime();
      MPI_Start(&request);
      seconds += PMPI_Wtime() - begin;
      g_counts = false;
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK(sum.back() == p);
      sum.back() = -1;
    }
    CHECK(g_allocations == 0);
    if (timed && conformance::rank_in(MPI_COMM_WORLD) == 0)
      std::printf("%s of %d: a start takes %.2f us\n", spec.c_str(), count, seconds / rounds * 1e6);
    MPI_Request_free(&request);
  }
  conformance::passed("start_takes_no_memory", 3, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
