#include "node/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace unisono::node {

namespace {

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif

}  // namespace

bool allocates_parts(void* page) { return madvise(page, 0, MADV_POPULATE_WRITE) == 0; }

bool allocate(std::span<const std::byte> part) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data()) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size());
  void* const first = reinterpret_cast<void*>(begin);
  if (!allocates_parts(first)) return true;
  while (madvise(first, end - begin, MADV_POPULATE_WRITE) != 0)
    if (errno != EINTR) return false;
  return true;
}

}  // namespace unisono::node
