// A driver of a device that is not there, with the functions of libcuda.so.1 that Unisono looks
// for. Its memory is mapped twice: where the program sees it, nobody may read or write.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>

#define DRIVER extern "C" __attribute__((visibility("default")))

namespace {

struct Allocation {
  std::size_t bytes;
  char* behind;  // where it may be touched
};

std::map<std::uintptr_t, Allocation>& allocations() {
  static std::map<std::uintptr_t, Allocation> all;
  return all;
}

/// Where these bytes of the device may be touched; null: they are not the device's.
char* behind(std::uintptr_t address, std::size_t bytes) {
  auto next = allocations().upper_bound(address);
  if (next == allocations().begin()) return nullptr;
  const auto& [begin, allocation] = *--next;
  if (address + bytes > begin + allocation.bytes) return nullptr;
  return allocation.behind + (address - begin);
}

int g_copies = 0;
std::size_t g_written = 0;

}  // namespace

DRIVER void* stub_cuda_allocate(std::size_t bytes) {
  const int file = memfd_create("device", 0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return nullptr;
  void* seen = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file, 0);
  void* touched = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  allocations()[reinterpret_cast<std::uintptr_t>(seen)] = {bytes, static_cast<char*>(touched)};
  return seen;
}
DRIVER int stub_cuda_copies() { return g_copies; }
DRIVER std::size_t stub_cuda_written() { return g_written; }

DRIVER int cuPointerGetAttribute(void* value, int attribute, std::uintptr_t address) {
  if (behind(address, 1) == nullptr) return 1;
  if (attribute == 1)
    std::memcpy(value, &address, sizeof address);  // a context: any
  else
    std::memset(value, 0, sizeof(unsigned));
  if (attribute == 2) *static_cast<unsigned*>(value) = 2;
  return 0;
}
DRIVER int cuMemcpyDtoH_v2(void* to, std::uintptr_t from, std::size_t bytes) {
  const char* data = behind(from, bytes);
  if (data == nullptr) return 1;
  std::memcpy(to, data, bytes);
  ++g_copies;
  return 0;
}
DRIVER int cuMemcpyHtoD_v2(std::uintptr_t to, const void* from, std::size_t bytes) {
  char* data = behind(to, bytes);
  if (data == nullptr) return 1;
  std::memcpy(data, from, bytes);
  ++g_copies;
  g_written += bytes;
  return 0;
}
DRIVER int cuCtxPushCurrent_v2(void*) { return 0; }
DRIVER int cuCtxPopCurrent_v2(void**) { return 0; }
