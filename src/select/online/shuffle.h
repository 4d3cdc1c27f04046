// Two ways in random turns, for recording what each takes wherever it stands in a job: right after
// itself or after the other one, early and late.
#pragma once
#include <cstdint>

#include "select/online/policy.h"

namespace unisono {

/// Turns of 1, 2, 4, ... `longest` calls of either way, each length as often, so that both run in
/// as many calls; nothing is learned. The same on all ranks, which combine numbers after twice as
/// many calls as the longest turn has.
class Shuffle final : public Policy {
 public:
  Shuffle(unsigned seed, int longest);

  std::vector<int> plan() override;
  int gap() const override { return 0; }
  int leader() const override { return 0; }
  std::vector<Nanoseconds> summary(std::span<const Nanoseconds> own,
                                   std::span<const Nanoseconds> ends) const override;
  void learn(std::span<const Nanoseconds> shared) override;
  double lost() const override { return 0; }
  int reopened() const override { return 0; }
  ArmTimes times(int /*arm*/) const override { return {}; }
  std::string explain() const override { return "in random turns"; }

 private:
  std::uint64_t below(std::uint64_t limit);

  std::uint64_t state_;
  std::size_t longest_;
};

}  // namespace unisono
