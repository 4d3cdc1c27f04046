// How far the cost model is off, by algorithm: learned from every arm that has been timed, so that
// a kind of call that comes later is right at once.
#pragma once
#include <map>
#include <mutex>
#include <string_view>

namespace unisono {

/// Ratios of measured to predicted times; their logarithms are averaged. An algorithm of which
/// little is known is thought to be as far off as all are together. Threads may share one.
class Corrections {
 public:
  /// What a prediction for this algorithm is to be multiplied by.
  double factor(std::string_view algorithm) const;
  void learn(std::string_view algorithm, double predicted, double measured);

 private:
  struct Sum {
    double logarithms = 0;
    int count = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::string_view, Sum> by_algorithm_;  // names of the catalogue
  Sum all_;
};

}  // namespace unisono
