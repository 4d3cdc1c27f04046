#include "mpi/device_memory.h"

#include <atomic>
#include <cstdint>
#include <mutex>

#include "mpi/driver_functions.h"
#include "mpi/level_zero.h"
#include "mpi/loaded_libraries.h"

namespace unisono {

constinit std::atomic<bool> g_has_devices{false};

namespace {

/// Of libcuda.so.1, as far as it is used here; cuda.h is not needed to build.
class Cuda {
 public:
  bool open() {
    void* library = loaded_library("libcuda.so.1");
    return library != nullptr && find_function(library, "cuPointerGetAttribute", attribute_) &&
           find_function(library, "cuMemcpyDtoH_v2", to_host_) &&
           find_function(library, "cuMemcpyHtoD_v2", to_device_) &&
           find_function(library, "cuCtxPushCurrent_v2", push_) &&
           find_function(library, "cuCtxPopCurrent_v2", pop_);
  }

  bool holds(const void* address) const {
    unsigned kind = 0, managed = 0;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (attribute_(&kind, kMemoryType, at) != 0 || kind != kDevice) return false;
    return attribute_(&managed, kIsManaged, at) != 0 || managed == 0;
  }

  bool read(std::byte* host, const std::byte* device, std::size_t bytes) const {
    const auto at = reinterpret_cast<std::uintptr_t>(device);
    return in_context_of(at, [&] { return to_host_(host, at, bytes); });
  }
  bool write(std::byte* device, const std::byte* host, std::size_t bytes) const {
    const auto at = reinterpret_cast<std::uintptr_t>(device);
    return in_context_of(at, [&] { return to_device_(at, host, bytes); });
  }

 private:
  // CUpointer_attribute and CUmemorytype.
  static constexpr int kContext = 1, kMemoryType = 2, kIsManaged = 8;
  static constexpr unsigned kDevice = 2;

  /// The calling thread may have another context, or none.
  template <class Copy>
  bool in_context_of(std::uintptr_t address, const Copy& copy) const {
    void* context = nullptr;
    if (attribute_(&context, kContext, address) != 0) context = nullptr;
    const bool pushed = context != nullptr && push_(context) == 0;
    const bool copied = copy() == 0;
    if (pushed) pop_(&context);
    return copied;
  }

  int (*attribute_)(void*, int, std::uintptr_t) = nullptr;
  int (*to_host_)(void*, std::uintptr_t, std::size_t) = nullptr;
  int (*to_device_)(std::uintptr_t, const void*, std::size_t) = nullptr;
  int (*push_)(void*) = nullptr;
  int (*pop_)(void**) = nullptr;
};

/// Of AMD's libamdhip64.
class Hip {
 public:
  bool open() {
    for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"})
      if (void* library = loaded_library(name))
        return find_function(library, "hipPointerGetAttribute", attribute_) &&
               find_function(library, "hipMemcpy", copy_) &&
               find_function(library, "hipRuntimeGetVersion", version_);
    return false;
  }

  bool holds(const void* address) const {
    unsigned kind = 0, managed = 0;
    auto* at = const_cast<void*>(address);
    if (attribute_(&kind, kMemoryType, at) != 0 || kind != device()) return false;
    return attribute_(&managed, kIsManaged, at) != 0 || (managed & 0xff) == 0;
  }
  bool copy(void* to, const void* from, std::size_t bytes) const {
    return copy_(to, from, bytes, kAnyDirection) == 0;
  }

 private:
  // hipPointer_attribute and hipMemcpyKind; hipMemoryType was renumbered in HIP 6.
  static constexpr int kMemoryType = 2, kIsManaged = 8, kAnyDirection = 4;
  unsigned device() const {
    int version = 0;
    return version_(&version) == 0 && version < 60'000'000 ? 1 : 2;
  }

  int (*attribute_)(void*, int, void*) = nullptr;
  int (*copy_)(void*, const void*, std::size_t, int) = nullptr;
  int (*version_)(int*) = nullptr;
};

// Written before g_found_*, which is what others look at, by whoever finds the driver first.
Cuda g_cuda;
Hip g_hip;
LevelZero g_level_zero;
constinit std::atomic<bool> g_found_cuda{false}, g_found_hip{false}, g_found_level_zero{false};
constinit std::mutex g_finding;

/// No lock is held while the dynamic linker is asked, which has its own.
template <class Driver>
void look_for(Driver& known, std::atomic<bool>& found) {
  Driver driver;
  if (found || !driver.open()) return;
  const std::lock_guard lock(g_finding);
  if (found) return;
  known = driver;
  found = g_has_devices = true;
}

}  // namespace

// A search by name goes through folders: only when there is something new.
void look_for_devices() {
  look_at_new_libraries([] {
    look_for(g_cuda, g_found_cuda);
    look_for(g_hip, g_found_hip);
    look_for(g_level_zero, g_found_level_zero);
    return has_devices();
  });
}

bool is_on_device(const void* address) {
  if (address == nullptr) return false;
  return (g_found_cuda && g_cuda.holds(address)) || (g_found_hip && g_hip.holds(address)) ||
         (g_found_level_zero && g_level_zero.holds(address));
}

bool copy_from_device(std::byte* host, const std::byte* device, std::size_t bytes) {
  if (g_found_cuda && g_cuda.holds(device)) return g_cuda.read(host, device, bytes);
  if (g_found_hip && g_hip.holds(device)) return g_hip.copy(host, device, bytes);
  return g_found_level_zero && g_level_zero.copy(device, host, device, bytes);
}

bool copy_to_device(std::byte* device, const std::byte* host, std::size_t bytes) {
  if (g_found_cuda && g_cuda.holds(device)) return g_cuda.write(device, host, bytes);
  if (g_found_hip && g_hip.holds(device)) return g_hip.copy(device, host, bytes);
  return g_found_level_zero && g_level_zero.copy(device, device, host, bytes);
}

}  // namespace unisono
