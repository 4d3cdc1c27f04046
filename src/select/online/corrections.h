// How far the cost model is off, by family of algorithms: learned from every arm that has been
// timed, so that a kind of call that comes later is right at once.
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace unisono {

/// Ratios of measured to predicted times; their logarithms are averaged. A family of which
/// little is known is thought to be as far off as all are together. Threads may share one.
class Corrections {
 public:
  /// What a prediction for this family is to be multiplied by.
  double factor(std::string_view family) const;
  void learn(std::string_view family, double predicted, double measured);

 private:
  struct Sum {
    double logarithms = 0;
    int count = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Sum, std::less<>> by_family_;  // see family_of()
  Sum all_;
};

}  // namespace unisono
