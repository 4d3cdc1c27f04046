// The memory of every rank through which long messages go, chunk by chunk.
//
// A chunk takes as much of the ring as it is long. What is written again should have left its
// writer's own cache, or it is fetched from there by each reader and back by the writer. Short
// chunks are the exception: what they would go round in a long ring has left all near caches, which
// costs them more. They have a ring of their own, at the beginning of the memory. They lie far
// apart in it: a reader's core fetches ahead what lies behind a chunk, and where that is the next
// one its writer has to take it back (allgather between two ranks of an EPYC: 512 B one behind the
// other 0.20 us, a KiB apart or more 0.13).
#pragma once
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace unisono::node {

using Step = std::uint64_t;

/// Two cache lines: processors fetch them in pairs.
inline constexpr std::size_t kLinePair = 128;

/// How a rank writes its slots.
enum class Store : unsigned char {
  plain,        ///< into its caches, from which the readers fetch
  nontemporal,  ///< past them: where a line that another core has written is dear
};

/// How a team uses its slots; the same on all ranks.
struct Slots {
  static constexpr std::size_t kLongest = 32 << 10;
  /// In the ring, so that none of the three that a round may use overlaps another.
  static constexpr std::size_t kLeast = 4;
  /// Chunks of up to so many bytes begin so far apart in a ring of so many, or of a quarter of the
  /// memory.
  static constexpr std::size_t kShort = 4 << 10, kShortGrain = 2 * kShort, kShortRing = 256 << 10;
  /// As many are in flight if nothing else is said.
  static constexpr std::size_t kUsual = 8;

  std::size_t ring = 0;     ///< bytes of each rank, at most; 0: what the arena has
  std::size_t longest = 0;  ///< 0: kUsual of them in the ring, kLongest at most
  Store store = Store::plain;
};

/// A part of the ring, taken by all ranks alike whether they write theirs or not.
struct SlotUse {
  std::size_t offset = 0;
  Step free_at = 0;  ///< it may be written when everybody's position is here
};

/// Whose turn it is: the chunks go round the ring one behind the other, and the last kUses of them
/// are remembered, each with the step in which a rank may still look at it. Steps never decrease,
/// so that what is older than these is free when the oldest of them is.
template <unsigned kUses>
class Ring {
 public:
  explicit Ring(std::size_t bytes) { restart(bytes, 0); }
  /// Begins again, with so many bytes that may be written when everybody's position is there.
  void restart(std::size_t bytes, Step free_at) {
    bytes_ = bytes / kLinePair * kLinePair;
    assert(bytes_ > 0);
    round_ = next_ = oldest_ = newest_ = 0;
    free_at_ = free_at;
  }

  std::size_t bytes() const { return bytes_; }

  /// The next `bytes` bytes; `last` is the step in which a rank may still look at them.
  SlotUse take(std::size_t bytes, Step last) {
    const std::size_t wanted = (bytes + kLinePair - 1) & ~(kLinePair - 1);
    assert(wanted <= bytes_);
    if (next_ + wanted > bytes_) {  // what is left at the end is left out
      round_ += bytes_;
      next_ = 0;
    }
    const std::size_t begin = round_ + next_;
    while (oldest_ != newest_ && uses_[oldest_ % kUses].begin + bytes_ < begin + wanted) forget();
    if (newest_ - oldest_ == kUses) forget();
    uses_[newest_++ % kUses] = {begin, last};
    const SlotUse use{next_, free_at_};
    next_ += wanted;
    return use;
  }

 private:
  struct Use {
    std::size_t begin = 0;  ///< in bytes that the ring has been gone round
    Step last = 0;
  };
  void forget() { free_at_ = uses_[oldest_++ % kUses].last + 1; }

  std::size_t bytes_ = 0, round_ = 0, next_ = 0;
  std::size_t oldest_ = 0, newest_ = 0;
  Step free_at_ = 0;
  std::array<Use, kUses> uses_{};
};

}  // namespace unisono::node
