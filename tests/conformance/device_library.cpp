// Stands in for an MPI library that knows the stub's device: it lies between Unisono and the MPI
// library, and serves these collectives by copies of its own.
#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <vector>

#define SEEN extern "C" __attribute__((visibility("default")))

extern "C" {
bool stub_device_read(void* to, std::uintptr_t from, std::size_t bytes);
bool stub_device_write(std::uintptr_t to, const void* from, std::size_t bytes);
}

namespace {

int g_served = 0;

std::uintptr_t at(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

/// A buffer where the processor can touch it; back to where it was at the end.
class Touchable {
 public:
  Touchable(const void* buffer, std::size_t bytes) : buffer_(buffer), host_(bytes) {
    is_device_ = stub_device_read(host_.data(), at(buffer), bytes);
    if (is_device_) ++g_served;
  }
  void* get() { return is_device_ ? host_.data() : const_cast<void*>(buffer_); }
  void give_back() {
    if (is_device_) stub_device_write(at(buffer_), host_.data(), host_.size());
  }

 private:
  const void* buffer_;
  std::vector<char> host_;
  bool is_device_ = false;
};

}  // namespace

/// Number of buffers on the device that the MPI library was given.
SEEN int device_library_served() { return g_served; }

SEEN int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(int);  // as the test calls it
  Touchable from(in, bytes), to(out, bytes);
  const int code = PMPI_Allreduce(from.get(), to.get(), count, type, op, comm);
  to.give_back();
  return code;
}

SEEN int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  Touchable data(buffer, static_cast<std::size_t>(count) * sizeof(int));
  const int code = PMPI_Bcast(data.get(), count, type, root, comm);
  data.give_back();
  return code;
}
