// Which of several arms is faster, from times measured side by side.
#pragma once
#include <vector>

namespace unisono {

/// Of the logarithms of the ratios of two arms' times: the true mean is within `mean` +- `half`.
struct Comparison {
  int blocks = 0;
  double mean = 0;
  double half = 0;
  double error = 0;  ///< standard error of the mean

  bool surely_faster() const { return blocks >= 3 && mean + half < 0; }
  /// At one time, by two standard errors: enough to drop an arm that will be tried again.
  bool likely_slower() const { return blocks >= 1 && mean - 2 * error > 0; }
  /// By one: of arms that are alike the wrong one costs little, and what follows is watched.
  bool probably_faster() const { return blocks >= 3 && mean + error < 0; }
};

/// Times in blocks: in one block each of some arms has run once, in random order, so that a drift
/// of the machine, and the waiting for late ranks, is common to them.
class Evidence {
 public:
  /// `error`: the chance that any comparison is ever wrong.
  explicit Evidence(int arms, double error = 0.05) : arms_(arms), error_(error) {}

  void begin_block() { blocks_.emplace_back(static_cast<std::size_t>(arms_), kAbsent); }
  /// In the last block. Precondition: seconds > 0.
  void add(int arm, double seconds);
  void clear() { blocks_.clear(); }

  /// Of a's time over b's, in the blocks that have both. However often it is asked: an asymptotic
  /// confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas 2024) of the winsorised
  /// mean. Few values are far from the asymptote: a prior for the variance holds where the noise is
  /// not much above it (0.3).
  Comparison compare(int a, int b) const;
  /// The last times of this arm, in no order.
  std::vector<double> recent(int arm) const;
  /// Blocks that have this arm.
  int count(int arm) const;
  int blocks() const { return static_cast<int>(blocks_.size()); }

 private:
  static constexpr double kAbsent = 0;
  int arms_;
  double error_;
  std::vector<std::vector<double>> blocks_;  // seconds
};

}  // namespace unisono
