// One sequential test for all comparisons of two ways: is the other one faster than native, or
// slower? By bets on the logarithm of each pair's quotient of times (Waudby-Smith, Ramdas,
// Estimating means of bounded random variables by betting, 2024). As long as neither way is faster
// the wealth of a bet is a supermartingale, so that it may be looked at after each pair: by Ville's
// inequality it reaches `n` in one case of `n` at most.
#pragma once
#include <algorithm>
#include <array>

#include "select/online/logarithm.h"

namespace unisono {

class Wager {
 public:
  /// `clip`: logarithm beyond which a pair says no more, so that one that was held up decides
  /// nothing.
  explicit Wager(double clip) : clip_(clip) {}

  /// What a pair took; both positive. The same on all ranks that know the same times.
  void add(double other, double native) {
    const double slower = std::clamp(same_log(other / native) / clip_, -1.0, 1.0);
    for (std::size_t i = 0; i < kBets.size(); ++i) {
      on_[0][i] *= 1 + kBets[i] * slower;
      on_[1][i] *= 1 - kBets[i] * slower;
    }
  }

  /// Of the bets that this way, native being 0, is faster; 1 at first.
  double wealth(int way) const {
    const auto& bets = on_[static_cast<std::size_t>(way)];
    return (bets[0] + bets[1] + bets[2]) / static_cast<double>(kBets.size());
  }
  int faster() const { return wealth(1) > wealth(0) ? 1 : 0; }
  /// For the way that is faster.
  double evidence() const { return std::max(wealth(0), wealth(1)); }

 private:
  /// Shares of the wealth that are staked on each pair. The wealth is divided among them, and that
  /// of the mixture is a supermartingale, too: a low one finds small differences, a high one large
  /// ones soon.
  static constexpr std::array kBets{0.25, 0.5, 0.95};

  double clip_;
  std::array<std::array<double, kBets.size()>, 2> on_{{{1, 1, 1}, {1, 1, 1}}};
};

}  // namespace unisono
