// What all kinds of a job together may lose by trying other ways than the MPI library's own. Of
// a hundred kinds these add up.
#pragma once
#include <algorithm>
#include <limits>

namespace unisono {

/// Of a whole job, as the ranks of one communicator know it: the most that any of them has lost,
/// the least time for which any has run. Equal on all of them.
struct JobAccount {
  double lost = 0;  ///< seconds, with what trials under way may lose
  double seconds = std::numeric_limits<double>::infinity();
};

class JobBudget {
 public:
  static constexpr double kShare = 0.02;  ///< of the time since MPI_Init
  /// At the beginning a share of the time is nothing; a few milliseconds may be lost then, which
  /// nobody notices after MPI_Init.
  static constexpr double kLeast = 5e-3;

  /// `own`: seconds that the kind which hears it has lost by now; they are in the account.
  void hear(const JobAccount& account, double own) {
    account_ = account;
    own_ = own;
  }
  /// Whether the job can bear that `more` seconds are lost, where the kind has lost `own` by now.
  bool bears(double own, double more) const {
    return account_.lost + std::max(0.0, own - own_) + more <= kLeast + kShare * account_.seconds;
  }

 private:
  JobAccount account_;
  double own_ = 0;
};

}  // namespace unisono
