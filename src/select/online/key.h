// Which calls are of one kind: they share a learner. Equal on all ranks.
#pragma once
#include <compare>
#include <cstdint>
#include <utility>

#include "select/selector.h"

namespace unisono {

/// The call site is not in it: that all ranks have come from one site in every call so far proves
/// nothing of the next call, and a decision by it would be a rank's own.
struct OnlineKey {
  Collective collective = Collective::barrier;
  int size_class = 0;
  bool root_is_first = true;  ///< rank 0, or any other; true without a root
  bool commutative = true;
  // As in Facts: other algorithms are at hand.
  bool shared = false;
  bool kernels_in_nodes = false;

  auto operator<=>(const OnlineKey&) const = default;
};

/// Two classes for every power of two of bytes: borders at 2^k and at 1.5 * 2^k; 0 is its own.
int size_class(Count bytes);
inline constexpr int kSizeClasses = 128;
/// The least and the most bytes of a class.
std::pair<Count, Count> bytes_of_class(int size_class);

OnlineKey online_key(const Facts& facts, int root);

}  // namespace unisono
