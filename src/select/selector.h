// Which algorithm runs a call: forced by the user, else the profile's, else the table of defaults',
// else the MPI library's own. Decides by facts equal on all ranks only.
#pragma once
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "select/defaults.h"
#include "select/profile.h"
#include "select/spec.h"

namespace unisono {

/// What all ranks know of a call.
struct Facts {
  Collective collective = Collective::barrier;
  int size = 1;
  /// Of the signature: the vector (bcast, reduce, allreduce, scan, exscan), one block (gather,
  /// scatter, allgather, alltoall; allgatherv: the mean), all blocks (reduce_scatter, _block); 0
  /// for the other irregular ones, of which no rank knows all counts.
  Count bytes = 0;
  bool commutative = true;
  int nodes = 1;  ///< that the ranks are on; counts in profiles only
};

struct Choice {
  const Algorithm* algorithm = nullptr;  ///< nullptr: the MPI library's own
  Params params;
  /// "forced", "profile mine.json", "docs/results/defaults.md", "no better one known", ...
  std::string_view why;
  /// The forced algorithm that cannot serve this call; `why` says what it lacks.
  const Algorithm* unmet = nullptr;
};

class Selector {
 public:
  /// The defaults that hold for this MPI library and place.
  Selector(std::string_view flavour, Place place);
  Selector() = default;

  /// The cells of a profile that hold for this job; they come before the defaults.
  void use(std::vector<ProfileCell> cells, std::string_view file);
  /// Forces an algorithm; "default" takes it back. The error is one line.
  Result<Spec> force(Collective collective, std::string_view text);
  /// The collectives that choose() might not leave to the MPI library.
  CollectiveSet candidates() const;
  /// Whether choose() might not leave such a call to the MPI library, whatever the operation: a
  /// cheap first look.
  bool covers(const Facts& facts) const {
    const auto c = static_cast<std::size_t>(facts.collective);
    return (reach_[c].holds(facts) || !forced_[c].is_default) && finds(facts);
  }
  /// Never returns an algorithm that cannot serve the call; `why` then tells what it lacks.
  Choice choose(const Facts& facts) const;

 private:
  struct Cell {
    const Default* row;
    Spec spec;
  };
  /// What lies outside is nobody's: most calls that are left are left by this look alone.
  struct Reach {
    int least_ranks = std::numeric_limits<int>::max(), most_ranks = 0;
    Count least_bytes = std::numeric_limits<Count>::max(), most_bytes = -1;

    void include(int fewest, int most, Count least, Count largest);
    bool holds(const Facts& facts) const {
      return facts.size >= least_ranks && facts.size <= most_ranks && facts.bytes >= least_bytes &&
             facts.bytes <= most_bytes;
    }
  };
  std::array<Spec, kCollectives> forced_ = filled();
  std::array<Reach, kCollectives> reach_;  // of the two following
  std::array<std::vector<Cell>, kCollectives> cells_;
  std::array<std::vector<ProfileCell>, kCollectives> profile_;  // sorted by ranks, nodes, bytes
  std::string profile_name_;

  bool finds(const Facts& facts) const;
  const ProfileCell* profiled(const Facts& facts) const;
  static std::array<Spec, kCollectives> filled();
};

}  // namespace unisono
