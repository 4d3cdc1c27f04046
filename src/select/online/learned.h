// What online selection has learned, for people and as a profile.
#pragma once
#include <string>
#include <vector>

#include "select/online/key.h"
#include "select/online/learner.h"
#include "select/platform.h"

namespace unisono {

/// One kind of call on communicators of one shape.
struct Learned {
  OnlineKey key;
  int ranks = 1, nodes = 1;
  Count bytes = 0;  ///< of its first call
  Account account;
  bool is_judged = false;  ///< nothing is counted any more once it is settled (duel.h)
  Spec choice;
  struct Arm {
    Spec spec;
    ArmTimes times;
  };
  std::vector<Arm> arms;  ///< those that have been measured
  bool decided = false;   ///< the choice rests on measurements
};

class Ledger {
 public:
  /// Of several communicators with the same kind of call in the same shape, calls and losses add
  /// up, and what the one with the most calls has chosen stays.
  void add(Learned learned);
  const std::vector<Learned>& all() const { return all_; }

 private:
  std::vector<Learned> all_;
  std::vector<long long> most_calls_;  // of one communicator
};

/// "bcast of 96K to 128K-1 on 16 ranks: chain:segment=16K, ...", one line. `job_seconds`: since
/// MPI_Init.
std::string line_of(const Learned& learned, double job_seconds);

/// A profile (docs/reference/profile.md). A cell is a size class; where several kinds of call fall
/// into one (other roots, operations that do not commute), the most frequent one's choice stands.
/// `created`: UTC, as in the schema.
std::string profile_text(const Ledger& ledger, const Platform& here, const std::string& created);

}  // namespace unisono
