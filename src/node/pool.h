// A segment cut into arenas, so that the communicators of a job share a bounded piece of memory.
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace unisono::node {

/// A part of a segment that is mapped at different addresses: in bytes from its start.
struct Arena {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// The books are a bit map in the segment itself. An arena is a power of two of units within one
/// word of the map, and so is taken by one compare-and-swap and given back by one atomic and: any
/// process may do either at any time, nobody holds a lock, and a process that dies leaves nothing
/// behind but the arenas it had. An arena's memory is as its last user left it.
class Pool {
 public:
  static constexpr std::size_t kUnit = 64 << 10;
  static constexpr std::size_t kLargestArena = 64 * kUnit;

  /// Once, before anybody takes. `memory`: two units at least, aligned to pages.
  static void prepare(std::span<std::byte> memory);
  /// Of a memory of so many, those that prepare() writes: at its beginning.
  static std::size_t bytes_of_books(std::size_t bytes) { return words(bytes) * sizeof(Word); }

  explicit Pool(std::span<std::byte> memory) : memory_(memory) {}

  /// Offset of the first arena that is ever taken, if it is one of so many bytes.
  static std::size_t first_arena(std::size_t bytes) { return units(bytes) * kUnit; }

  /// At least `bytes`, all of which may be used; nothing when there is no room. Any process.
  std::optional<Arena> take(std::size_t bytes);
  /// When nobody uses it any more. Any process, once.
  void give_back(const Arena& arena);

  std::span<std::byte> memory(const Arena& arena) const {
    return memory_.subspan(arena.offset, arena.bytes);
  }

 private:
  using Word = std::atomic<std::uint64_t>;
  static constexpr std::size_t kBits = 64;
  static std::size_t units(std::size_t bytes) {
    return std::bit_ceil(std::max<std::size_t>(1, (bytes + kUnit - 1) / kUnit));
  }
  static std::size_t words(std::size_t bytes) { return (bytes / kUnit + kBits - 1) / kBits; }
  Word& word(std::size_t index) const { return reinterpret_cast<Word*>(memory_.data())[index]; }

  std::span<std::byte> memory_;
};

}  // namespace unisono::node
