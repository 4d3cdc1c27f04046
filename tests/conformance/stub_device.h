// A device that is not there, for drivers of it. Its memory is mapped twice: where the program sees
// it, nobody may read or write.
#pragma once
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

/// False: no memory of the device there.
bool read_device(void* to, std::uintptr_t from, std::size_t bytes) {
  const char* data = behind(from, bytes);
  if (data == nullptr) return false;
  std::memcpy(to, data, bytes);
  ++g_copies;
  return true;
}
bool write_device(std::uintptr_t to, const void* from, std::size_t bytes) {
  char* data = behind(to, bytes);
  if (data == nullptr) return false;
  std::memcpy(data, from, bytes);
  ++g_copies;
  g_written += bytes;
  return true;
}

}  // namespace

DRIVER void* stub_device_allocate(std::size_t bytes) {
  const int file = memfd_create("device", 0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return nullptr;
  void* seen = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file, 0);
  void* touched = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  allocations()[reinterpret_cast<std::uintptr_t>(seen)] = {bytes, static_cast<char*>(touched)};
  return seen;
}
DRIVER int stub_device_copies() { return g_copies; }
DRIVER std::size_t stub_device_written() { return g_written; }
// For the program, which uses whatever driver it is linked to.
DRIVER bool stub_device_read(void* to, std::uintptr_t from, std::size_t bytes) {
  return read_device(to, from, bytes);
}
DRIVER bool stub_device_write(std::uintptr_t to, const void* from, std::size_t bytes) {
  return write_device(to, from, bytes);
}
