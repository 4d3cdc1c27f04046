// STAR-MPI's rules (Faraj, Yuan, Lowenthal, ICS'06) as its authors' code has them: every algorithm
// runs N times, the best is used and watched.
#pragma once
#include "select/online/policy.h"

namespace unisono {

struct StarSettings {
  int calls = 10;          ///< of each algorithm
  double threshold = 1.1;  ///< the leader must be that much slower than the second to lose
};

class Star final : public Policy {
 public:
  /// Precondition: at least two arms.
  Star(int arms, StarSettings settings);

  std::vector<int> plan() override;
  int gap() const override { return 2; }  // calls skipped after statistics were exchanged
  int leader() const override { return tuned_ ? order_.front() : 0; }
  /// Tuning: the table of all times. Monitoring: the mean of all, and of the last N.
  std::vector<Nanoseconds> summary(std::span<const Nanoseconds> own,
                                   std::span<const Nanoseconds> ends) const override;
  void learn(std::span<const Nanoseconds> shared) override;
  double lost() const override { return lost_; }
  int reopened() const override { return switched_; }
  ArmTimes times(int arm) const override { return times_[static_cast<std::size_t>(arm)]; }

 private:
  void tune(std::span<const Nanoseconds> table);
  void rank();
  void monitor(double all, double last);

  StarSettings settings_;
  bool tuned_ = false;
  int factor_ = 2;               // the monitoring window is factor * N calls
  std::vector<double> score_;    // nanoseconds, by arm
  std::vector<ArmTimes> times_;  // by arm
  std::vector<int> order_;       // arms, the best first
  double lost_ = 0;
  int switched_ = 0;
};

/// Messages below this many bytes are not tuned by STAR-MPI.
inline constexpr std::int64_t kStarLeastBytes = 2048, kStarLeastBcastBytes = 65536;

}  // namespace unisono
