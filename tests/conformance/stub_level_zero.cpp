// The functions of libze_loader.so.1 that Unisono looks for, with Intel's driver behind them: a
// driver without a GPU and one with it, which knows the allocations of all its contexts.
#include <atomic>

#include "stub_device.h"

namespace {

constexpr int kUninitialised = 0x78000001, kInvalidHandle = 0x78000005;

struct Header {
  std::uint32_t kind;
  void* extensions;
};
struct WithType {
  Header header;
  std::uint32_t type;
};
struct Queue {
  Header header;
  std::uint32_t group, index, flags, mode, priority;
};

char g_npu, g_gpu, g_npu_device, g_gpu_device, g_context, g_list;  // handles are their addresses
std::atomic<bool> g_is_initialised{false}, g_is_copying{false};

bool are(const void* first, std::uint32_t kind, void* handle, const void* expected) {
  return static_cast<const Header*>(first)->kind == kind && handle == expected;
}

}  // namespace

DRIVER int zeInit(std::uint32_t) {
  g_is_initialised = true;
  return 0;
}
DRIVER int zeDriverGet(std::uint32_t* count, void** drivers) {
  if (!g_is_initialised) return kUninitialised;
  if (*count < 2) return kInvalidHandle;
  drivers[0] = &g_npu;
  drivers[1] = &g_gpu;
  *count = 2;
  return 0;
}
DRIVER int zeDeviceGet(void* driver, std::uint32_t* count, void** devices) {
  if (driver != &g_npu && driver != &g_gpu) return kInvalidHandle;
  devices[0] = driver == &g_gpu ? &g_gpu_device : &g_npu_device;
  *count = 1;
  return 0;
}
DRIVER int zeDeviceGetProperties(void* device, void* properties) {
  static_cast<WithType*>(properties)->type = device == &g_gpu_device ? 1 : 5;
  return static_cast<Header*>(properties)->kind == 3 ? 0 : kInvalidHandle;
}
DRIVER int zeContextCreate(void* driver, const void* description, void** context) {
  if (!are(description, 0xd, driver, &g_gpu)) return kInvalidHandle;
  *context = &g_context;
  return 0;
}
DRIVER int zeMemGetAllocProperties(void* context, const void* address, void* properties,
                                   void** device) {
  if (!are(properties, 0x17, context, &g_context)) return kInvalidHandle;
  const bool known = behind(reinterpret_cast<std::uintptr_t>(address), 1) != nullptr;
  static_cast<WithType*>(properties)->type = known ? 2 : 0;
  *device = known ? &g_gpu_device : nullptr;
  return 0;
}
DRIVER int zeCommandListCreateImmediate(void* context, void* device, const void* queue,
                                        void** list) {
  if (!are(queue, 0xe, context, &g_context) || device != &g_gpu_device) return kInvalidHandle;
  if (static_cast<const Queue*>(queue)->mode != 1) return kInvalidHandle;  // synchronous
  *list = &g_list;
  return 0;
}
DRIVER int zeCommandListAppendMemoryCopy(void* list, void* to, const void* from, std::size_t bytes,
                                         void*, std::uint32_t, void**) {
  if (list != &g_list || g_is_copying.exchange(true))
    return kInvalidHandle;  // one thread at a time
  const bool copied = behind(reinterpret_cast<std::uintptr_t>(to), bytes) != nullptr
                          ? write_device(reinterpret_cast<std::uintptr_t>(to), from, bytes)
                          : read_device(to, reinterpret_cast<std::uintptr_t>(from), bytes);
  g_is_copying = false;
  return copied ? 0 : kInvalidHandle;
}
