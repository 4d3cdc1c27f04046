#include "mpi/level_zero.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "mpi/driver_functions.h"

namespace unisono {

namespace {

// Structures of ze_api.h begin with a number of their own and a pointer to extensions.
struct DeviceProperties {
  std::uint32_t kind = 3;
  void* extensions = nullptr;
  std::uint32_t type = 0;
  std::array<std::byte, 1024> rest{};  // 348 bytes in 1.8
};
struct ContextDescription {
  std::uint32_t kind = 0xd;
  const void* extensions = nullptr;
  std::uint32_t flags = 0;
};
struct QueueDescription {
  std::uint32_t kind = 0xe;
  const void* extensions = nullptr;
  std::uint32_t group = 0;  // that of the compute engines, which copy, too
  std::uint32_t index = 0, flags = 0;
  std::uint32_t mode = 1;  // synchronous: what is appended is over
  std::uint32_t priority = 0;
};
struct AllocationProperties {
  std::uint32_t kind = 0x17;
  void* extensions = nullptr;
  std::uint32_t type = 0;
  std::uint64_t id = 0, page_bytes = 0;
};
constexpr std::uint32_t kIsGpu = 1, kOnDevice = 2;

constexpr std::uint32_t kMostDrivers = 8, kMostDevices = 64;

/// A command list of a device, in a context.
struct List {
  void *context, *device, *list;
};

// All that is made stays until the process ends, when the loader may be gone before us.
constinit std::mutex g_mutex;  // guards what follows; a list may be used by one thread at a time
constinit std::array<void*, kMostDrivers> g_contexts{};
std::vector<List>& lists() {
  static auto& all = *new std::vector<List>;
  return all;
}
constinit std::atomic<int> g_known_contexts{-1};  // -1: the program has not called zeInit yet

}  // namespace

bool LevelZero::open() {
  void* library = loaded_library("libze_loader.so.1");
  if (library == nullptr || loaded_library("libze_intel_gpu.so.1") == nullptr) return false;
  find_function(library, "zeDriverGetDefaultContext", default_context_);
  return find_function(library, "zeDriverGet", drivers_) &&
         find_function(library, "zeDeviceGet", devices_) &&
         find_function(library, "zeDeviceGetProperties", device_properties_) &&
         find_function(library, "zeContextCreate", create_context_) &&
         find_function(library, "zeMemGetAllocProperties", properties_) &&
         find_function(library, "zeCommandListCreateImmediate", create_list_) &&
         find_function(library, "zeCommandListAppendMemoryCopy", append_copy_);
}

bool LevelZero::has_gpu(void* driver) const {
  std::uint32_t count = kMostDevices;
  std::array<void*, kMostDevices> devices{};
  if (devices_(driver, &count, devices.data()) != 0) return false;
  return std::any_of(
      devices.begin(), devices.begin() + std::min(count, kMostDevices), [this](void* device) {
        DeviceProperties properties;
        return device_properties_(device, &properties) == 0 && properties.type == kIsGpu;
      });
}

/// That which programs share, if the driver has it: it knows theirs by the specification, too.
void* LevelZero::context_of(void* driver) const {
  void* context = default_context_ != nullptr ? default_context_(driver) : nullptr;
  const ContextDescription description;
  if (context == nullptr && create_context_(driver, &description, &context) != 0) return nullptr;
  return context;
}

/// How many there are. Before zeInit there is no memory that they could know.
int LevelZero::find_contexts() const {
  if (const int known = g_known_contexts.load(std::memory_order_acquire); known >= 0) return known;
  const std::lock_guard lock(g_mutex);
  if (g_known_contexts >= 0) return g_known_contexts;
  std::uint32_t count = kMostDrivers;
  std::array<void*, kMostDrivers> drivers{};
  if (drivers_(&count, drivers.data()) != 0) return 0;
  int contexts = 0;
  for (std::uint32_t i = 0; i < std::min(count, kMostDrivers); ++i) {
    void* context = has_gpu(drivers[i]) ? context_of(drivers[i]) : nullptr;
    if (context != nullptr) g_contexts[static_cast<std::size_t>(contexts++)] = context;
  }
  g_known_contexts.store(contexts, std::memory_order_release);
  return contexts;
}

LevelZero::Owner LevelZero::owner_of(const void* address) const {
  for (int i = 0, contexts = find_contexts(); i < contexts; ++i) {
    void *context = g_contexts[static_cast<std::size_t>(i)], *device = nullptr;
    AllocationProperties properties;
    if (properties_(context, address, &properties, &device) == 0 && properties.type == kOnDevice)
      return {context, device};
  }
  return {};
}

void* LevelZero::list_for(const Owner& owner) const {
  const auto known = std::find_if(lists().begin(), lists().end(), [&](const List& one) {
    return one.context == owner.context && one.device == owner.device;
  });
  if (known != lists().end()) return known->list;
  const QueueDescription queue;
  void* list = nullptr;
  if (create_list_(owner.context, owner.device, &queue, &list) != 0) return nullptr;
  lists().push_back({owner.context, owner.device, list});
  return list;
}

bool LevelZero::copy(const void* address, void* to, const void* from, std::size_t bytes) const {
  const Owner owner = owner_of(address);
  if (owner.device == nullptr) return false;
  const std::lock_guard lock(g_mutex);
  void* list = list_for(owner);
  return list != nullptr && append_copy_(list, to, from, bytes, nullptr, 0, nullptr) == 0;
}

}  // namespace unisono
