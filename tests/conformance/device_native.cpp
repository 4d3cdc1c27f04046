// Buffers in the memory of a device go to the MPI library: after a few calls, in which one rank
// learns of it and tells the others, Unisono copies nothing. Communicators whose buffers are in the
// host's memory are served all the same.
//
//   mpiexec -n P device_native kernels | messages
#include <cstdint>

#include "check.h"

extern "C" {
void* stub_device_allocate(std::size_t bytes);
bool stub_device_read(void* to, std::uintptr_t from, std::size_t bytes);
bool stub_device_write(std::uintptr_t to, const void* from, std::size_t bytes);
int stub_device_copies();
int device_library_served() __attribute__((weak));  // it comes with LD_PRELOAD
}

namespace {

constexpr int kCount = 16, kCalls = 400, kMostStaged = 150;  // pairs of calls, on each communicator

/// Sums and a broadcast, of numbers on the device where `on_device`, which may be one rank only.
void call(MPI_Comm comm, int call, bool on_device) {
  static void* const device = stub_device_allocate(kCount * sizeof(int));
  const auto at = reinterpret_cast<std::uintptr_t>(device);
  const int me = conformance::rank_in(comm), p = conformance::size_of(comm);
  std::vector<int> data(kCount, me + call), out(kCount, -1);
  if (on_device) CHECK(stub_device_write(at, data.data(), kCount * sizeof(int)));
  MPI_Allreduce(on_device ? device : data.data(), out.data(), kCount, MPI_INT, MPI_SUM, comm);
  CHECK(out == std::vector<int>(kCount, p * (p - 1) / 2 + p * call));
  void* told = on_device ? device : static_cast<void*>(data.data());
  MPI_Bcast(told, kCount, MPI_INT, call % p, comm);
  if (on_device) CHECK(stub_device_read(data.data(), at, kCount * sizeof(int)));
  CHECK(data == std::vector<int>(kCount, call % p + call));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool kernels = argc < 2 || std::string(argv[1]) == "kernels";
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  for (const char* collective : {"allreduce", "bcast"})
    conformance::force(collective, kernels                              ? "shm"
                                   : std::string(collective) == "bcast" ? "binomial"
                                                                        : "recursive_doubling");
  MPI_Comm all, one, host;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_dup(MPI_COMM_WORLD, &host);
  for (int i = 0; i < kCalls; ++i) {
    call(all, i, true);
    call(one, i, me == 1);
    call(host, i, false);
  }
  CHECK(device_library_served() > (me == 1 ? 2 : 1) * kCalls);
  const unsigned long long before = conformance::own_calls();
  const int served = device_library_served();
  for (int i = 0; i < kCalls; ++i) {
    call(all, i, true);
    call(one, i, me == 1);
  }
  CHECK(conformance::own_calls() == before);  // all in the MPI library
  CHECK(device_library_served() == served + 2 * kCalls * (me == 1 ? 2 : 1));
  for (int i = 0; i < kCalls; ++i) call(host, i, false);
  CHECK(conformance::own_calls() == before + 2 * kCalls);
  conformance::passed("device_native", 4 * kCalls, 4 * kCalls + 4 * kMostStaged);
  MPI_Comm_free(&all);
  MPI_Comm_free(&one);
  MPI_Comm_free(&host);
  MPI_Finalize();
  return 0;
}
