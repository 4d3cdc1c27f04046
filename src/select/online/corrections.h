// How far the cost model is off, by family of algorithms: learned from every arm that has been
// timed, so that a kind of call that comes later is right at once.
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace unisono {

/// Ratios of measured to predicted times; their logarithms are averaged. A family of which
/// little is known is thought to be as far off as all are together. Threads may share one.
class Corrections {
 public:
  struct Entry {
    std::string family;
    double logarithms = 0;
    int count = 0;
  };
  /// Of two entries of one family; so little weight that what comes later still counts.
  static Entry sum(const Entry& one, const Entry& other);

  /// What a prediction for this family is to be multiplied by.
  double factor(std::string_view family) const;
  void learn(std::string_view family, double predicted, double measured);

  /// What earlier jobs have learned.
  void recall(const std::vector<Entry>& entries);
  /// What was learned beside that.
  std::vector<Entry> learned() const;

 private:
  struct Sum {
    double logarithms = 0;
    int count = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Sum, std::less<>> by_family_, learned_;  // see family_of()
  Sum all_;
};

}  // namespace unisono
