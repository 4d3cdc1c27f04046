// Memory of Intel GPUs, by the Level Zero loader and driver that the program has loaded.
//
// Level Zero wants a context with an address, and MPI passes none. By the specification a context
// knows its own allocations only. Intel's driver, the only one for GPUs, looks them up among those
// of all its contexts (compute-runtime, ContextImp::getMemAllocProperties), and MPICH, UCX and
// libfabric count on that, as this does. Under a driver that did not, nothing would be recognised.
#pragma once
#include <cstddef>
#include <cstdint>

namespace unisono {

class LevelZero {
 public:
  /// Whether the driver is loaded, which zeInit does. Initialises nothing: the program may still
  /// set what zeInit reads.
  bool open();
  bool holds(const void* address) const { return owner_of(address).device != nullptr; }
  /// One side is on the device, at `address` or behind it. False: the driver refused.
  bool copy(const void* address, void* to, const void* from, std::size_t bytes) const;

 private:
  struct Owner {
    void *context = nullptr, *device = nullptr;
  };
  /// None: not memory that only a device can touch.
  Owner owner_of(const void* address) const;
  int find_contexts() const;
  void* context_of(void* driver) const;
  bool has_gpu(void* driver) const;
  void* list_for(const Owner& owner) const;

  // Of ze_api.h, which is not needed to build. Handles are pointers, results 0 where all is well.
  int (*drivers_)(std::uint32_t* count, void** drivers) = nullptr;
  int (*devices_)(void* driver, std::uint32_t* count, void** devices) = nullptr;
  int (*device_properties_)(void* device, void* properties) = nullptr;
  void* (*default_context_)(void* driver) = nullptr;  // since 1.14; null: not there
  int (*create_context_)(void* driver, const void* description, void** context) = nullptr;
  int (*properties_)(void* context, const void* address, void* properties, void** device) = nullptr;
  int (*create_list_)(void* context, void* device, const void* queue, void** list) = nullptr;
  int (*append_copy_)(void* list, void* to, const void* from, std::size_t bytes, void* signal,
                      std::uint32_t waits, void** events) = nullptr;
};

}  // namespace unisono
