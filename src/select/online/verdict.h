// What a duel (duel.h) or a check (check.h) has come to, in a form that another communicator or
// another job can use.
#pragma once
#include <array>
#include <cstdint>

#include "select/spec.h"

namespace unisono {

/// Seconds of a call of one way: within calls, and from call to call, with what the program does
/// between them. Both of the slowest rank.
struct WayTimes {
  double in_calls = 0, all = 0;

  /// The ranks do something else for at least as long: who computes unevenly waits in calls for
  /// what another way may not wait for. A program that does nothing else is another case.
  bool is_spread() const { return all > 2 * in_calls; }
};

/// Way 0 is the MPI library's own, way 1 the kernels of the node, or a safe arm between hosts.
struct Verdict {
  int winner = 0;
  std::array<WayTimes, 2> times{};

  bool is_spread() const { return times[0].is_spread(); }
  /// Whether a way that takes so long now takes about what it took then: within a factor of 2, or
  /// within that by which the winner won. What was a factor of 8 may be one of 4 today.
  bool holds(int way, const WayTimes& now) const;
};

/// A verdict as one job keeps it for the next.
struct KeptVerdict {
  Collective collective = Collective::barrier;
  int size_class = 0;
  int ranks = 1, nodes = 1;  ///< of the communicator
  int ranks_per_core = 0;    ///< of the job, see Platform
  Count bytes = 0;           ///< of its first call
  Spec other;                ///< the second way; never native
  Verdict verdict;
  std::int64_t when = 0;  ///< seconds since 1970

  /// Both are of one kind of call in one kind of program: the later one counts.
  bool is_like(const KeptVerdict& other) const {
    return collective == other.collective && size_class == other.size_class &&
           ranks == other.ranks && nodes == other.nodes && ranks_per_core == other.ranks_per_core &&
           verdict.is_spread() == other.verdict.is_spread();
  }
};

}  // namespace unisono
