// The memory of every rank through which long messages go, chunk by chunk.
//
// A chunk takes as much of the ring as it is long, so that short ones go round the whole ring too:
// what is written again should have left its writer's caches, or it is fetched from them by each
// reader and back by the writer.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
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

/// Whose turn it is: the ring in grains, and until when each is busy.
template <unsigned kGrains>
class Ring {
 public:
  /// `bytes`: a multiple of kLinePair.
  explicit Ring(std::size_t bytes)
      : log_grain_(std::max(std::bit_width(kLinePair - 1),
                            std::bit_width((bytes + kGrains - 1) / kGrains - 1))),
        grains_(bytes >> log_grain_) {
    assert(grains_ > 0 && grains_ <= kGrains);
  }

  std::size_t bytes() const { return grains_ << log_grain_; }

  /// The next `bytes` bytes; `last` is the step in which a rank may still look at them.
  SlotUse take(std::size_t bytes, Step last) {
    const std::size_t grain = std::size_t{1} << log_grain_;
    const std::size_t wanted = (bytes + grain - 1) >> log_grain_;
    assert(wanted <= grains_);
    if (next_ + wanted > grains_) next_ = 0;
    const SlotUse use{next_ << log_grain_, busy_until(wanted)};
    for (const std::size_t end = next_ + wanted; next_ < end; ++next_)
      busy_until_[next_] = last + 1;
    return use;
  }

 private:
  // Not that of the last grain only: at the end of the ring there may be some that the rounds
  // before have left out.
  Step busy_until(std::size_t grains) const {
    Step latest = 0;
    for (std::size_t i = next_; i < next_ + grains; ++i) latest = std::max(latest, busy_until_[i]);
    return latest;
  }

  int log_grain_;
  std::size_t grains_, next_ = 0;
  std::array<Step, kGrains> busy_until_{};
};

}  // namespace unisono::node
