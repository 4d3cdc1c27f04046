// Who will arrive last, from how long the ranks have been in their calls.
#pragma once
#include <span>
#include <vector>

#include "select/online/policy.h"

namespace unisono {

/// Of collectives in which every rank waits for all: the later a rank arrives, the sooner it is
/// through. A prediction holds once two epochs in a row have led to it: patterns have phases
/// (Faraj, Patarasuk, Yuan 2008), and a new one every time would cost new plans and be wrong.
class Lateness {
 public:
  /// The mean time that every rank has been in the calls of an epoch.
  void learn(std::span<const Nanoseconds> in_calls);
  /// For Params::late, the very last rank last; nullptr: nobody stands out.
  const std::vector<int>* predicted() const { return predicted_; }

 private:
  const std::vector<int>* seen_ = nullptr;
  const std::vector<int>* predicted_ = nullptr;
};

/// The ranks with at least two thirds of the imbalance, by their arrival; none where more than half
/// of the ranks are, or where the imbalance is less than the call itself takes the last rank.
std::vector<int> late_ranks(std::span<const Nanoseconds> in_calls);

}  // namespace unisono
