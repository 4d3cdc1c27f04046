// Counts the memory that kernels take, in all tests of this program: see InKernel.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <new>

#include "tests/node/data.h"

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  unisono::node::t_memory_taken += unisono::node::t_in_kernel ? 1 : 0;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return ::operator new(bytes); }
// Does not throw: who asks so has an answer to none.
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace unisono::node {
namespace {

TEST(MemoryTaken, IsCountedWithinKernelsOnly) {
  ::operator delete(::operator new(1000));
  EXPECT_EQ(t_memory_taken, 0);
  {
    const InKernel kernel;
    ::operator delete(::operator new(1000));
  }
  EXPECT_EQ(t_memory_taken, 1);
  t_memory_taken = 0;
}

}  // namespace
}  // namespace unisono::node
