// What the memory of a node does, and what each protocol takes by that: the model by which the rule
// chooses. Equal on all ranks of a team, so that all choose alike.
#pragma once
#include <cstddef>

#include "node/memory_costs.h"
#include "node/protocol.h"
#include "node/ring.h"
#include "node/tuning.h"
#include "node/wait.h"

namespace unisono::node {

/// The ranks that do it.
struct Setting {
  int ranks = 2;
  int cores = 2;  ///< that they share
  WaitMode mode = WaitMode::spin;
  std::size_t slot = Slots::kLongest;
  std::size_t slots = Slots::kUsual;  ///< of a rank
};

/// What holds until a team has measured: of two cores of a Sapphire Rapids, whose lines are cheap
/// to fetch.
MemoryCosts prior_costs(const Setting& setting);

/// What a call is made of.
struct Work {
  double slowest = 0;  ///< ns of the rank that has most to do
  double all = 0;      ///< ns of all ranks together
  double waits = 0;    ///< of all ranks for all
  double flags = 0;    ///< of some for others, which may run ahead
  /// Of all ranks that share cores, because slots are full: a slot that has a part for every other
  /// rank holds little of each. 16 ranks on 2 cores scatter blocks of 256 KiB in 1.6 ms so, and
  /// directly in 0.5 (Open MPI, EPYC).
  double turns = 0;
};

/// Where ranks take turns on a core, what all do counts; a rank that sleeps wakes up to many flags,
/// but once for each turn.
double time_of(const Work& work, const MemoryCosts& costs, const Setting& setting);

/// A collective of `bytes` bytes: of a rank's block, or of the vector, as in `unisono list`.
enum class Kernel {
  bcast,
  gather,
  scatter,
  allgather,
  alltoall,
  reduce,
  allreduce,
  reduce_scatter,
  scan,
  message,  ///< of a ring or a chain, in which every rank sends one while it receives another
};
Work work_of(Kernel kernel, Protocol way, double bytes, const MemoryCosts& costs,
             const Setting& setting);

/// Nanoseconds with the cheapest protocol, as the rule would choose.
double time_by_rule(Kernel kernel, double bytes, const MemoryCosts& costs, const Setting& setting);

/// Where one protocol gets cheaper than the other: what the rule compares sizes with.
struct Thresholds {
  DirectFrom direct;
  ReadAll read;
};
Thresholds thresholds_of(const MemoryCosts& costs, const Setting& setting);

}  // namespace unisono::node
