// The functions of libcuda.so.1 that Unisono looks for.
#include "stub_device.h"

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
  return read_device(to, from, bytes) ? 0 : 1;
}
DRIVER int cuMemcpyHtoD_v2(std::uintptr_t to, const void* from, std::size_t bytes) {
  return write_device(to, from, bytes) ? 0 : 1;
}
DRIVER int cuCtxPushCurrent_v2(void*) { return 0; }
DRIVER int cuCtxPopCurrent_v2(void**) { return 0; }
