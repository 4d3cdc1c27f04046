#include "node/pool.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>

namespace unisono::node {

namespace {

/// `units` ones, a power of two, from bit `first` on.
std::uint64_t run(std::size_t units, std::size_t first) {
  return (units == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << units) - 1) << first;
}

}  // namespace

// The first unit holds the map, and what is behind the end is never free.
void Pool::prepare(std::span<std::byte> memory) {
  const std::size_t units = memory.size() / kUnit;
  assert(units >= 2 && words(memory.size()) * sizeof(Word) <= kUnit);
  for (std::size_t w = 0; w < words(memory.size()); ++w) {
    const std::size_t here = std::min(kBits, units - w * kBits);
    const std::uint64_t behind = here == kBits ? 0 : ~std::uint64_t{0} << here;
    new (memory.data() + w * sizeof(Word)) Word(behind | (w == 0 ? 1 : 0));
  }
}

std::optional<Arena> Pool::take(std::size_t bytes) {
  if (bytes > kLargestArena) return std::nullopt;
  const std::size_t units = Pool::units(bytes);
  for (std::size_t w = 0; w < words(memory_.size()); ++w) {
    std::uint64_t used = word(w).load(std::memory_order_relaxed);
    for (std::size_t first = 0; first < kBits;) {
      const std::uint64_t wanted = run(units, first);
      if ((used & wanted) != 0)
        first += units;
      else if (word(w).compare_exchange_weak(used, used | wanted, std::memory_order_acq_rel,
                                             std::memory_order_relaxed))
        return Arena{(w * kBits + first) * kUnit, units * kUnit};
    }
  }
  return std::nullopt;
}

void Pool::give_back(const Arena& arena) {
  const std::size_t first = arena.offset / kUnit;
  word(first / kBits)
      .fetch_and(~run(arena.bytes / kUnit, first % kBits), std::memory_order_acq_rel);
}

}  // namespace unisono::node
