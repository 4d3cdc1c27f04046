// What schedules would take: an event-driven walk over the graphs of all ranks together.
//
// A send starts when what it depends on is complete and its port is free, and keeps the port for
// the level's gap; `one_way` after its start it has arrived, later if the receiver's port or what
// all ranks share was taken. A message that finds the port of a node full of what other nodes have
// sent there loses a timeout (Incast). Within a node a port belongs to a rank, between nodes to the
// node: all its ranks share the way out, and the way in. Copies and reductions take their rank's
// core, one after the other. A phase that runs in a node's memory begins when the last of its ranks
// is there, and all are through at the same time (node_phase.h). Between the hosts of a torus it is
// links that messages share in place of ports: each keeps those of its route, one after the other,
// for the gap. Messages through the memory of a node (TransportKind::shm) are moved by the cores of
// their ranks: each goes by stores or by single copy, whichever is the cheaper at its length, as
// Worringer 2003 chooses between PIO and DMA. Who comes first is served first, at the same moment
// in program order. Cost O(n log n) for n ops; nothing is executed and no data exist.
#pragma once
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "algorithms/catalogue.h"
#include "base/result.h"
#include "model/machine.h"
#include "schedule/problem.h"
#include "topology/topology.h"

namespace unisono {

/// Blocks of neighbouring ranks, equally many on each node but the last ones.
std::vector<int> block_placement(int ranks, int nodes);

/// Of a prediction's seconds: walk through all.
inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// Seconds until the last rank is done, all starting at once, or rank r at late[r]; schedules[r] is
/// rank r's. Infinity where it is more than `most`: then the walk ends there. `torus`: where the
/// ranks are on one; null: every node has a port each way. The error is one line: a level the
/// machine has no times for, or schedules that do not match.
Result<double> predict(std::span<const Schedule> schedules, Count unit_bytes,
                       const Machine& machine, std::span<const int> node_of_rank,
                       std::span<const double> late = {}, double most = kNoLimit,
                       TransportKind transport = TransportKind::mpi,
                       const TorusPlacement* torus = nullptr);

/// The same for build_all() of an algorithm. Precondition: no unmet restriction.
Result<double> predict(const Algorithm& algorithm, const Problem& problem, const Machine& machine,
                       std::span<const int> node_of_rank);

/// What else passes a rank's ports between nodes before a call: it uses up credit.
struct Traffic {
  int rank = 0;
  Count out = 0, in = 0;  ///< bytes
  double begin = 0;       ///< on the calls' clock
};

struct LeftOver;

/// Calls one after the other, which find the ports as those before have left them: still taken, and
/// of shaped ones (Machine::credit) with as much credit as has come back since.
class CallSequence {
 public:
  /// All of them must outlive it.
  CallSequence(const Machine& machine, std::span<const int> node_of_rank, TransportKind transport,
               const TorusPlacement* torus = nullptr);
  ~CallSequence();
  CallSequence(const CallSequence&) = delete;
  CallSequence& operator=(const CallSequence&) = delete;

  /// When each rank is done with the next call, rank r beginning it at arrivals[r], on one clock
  /// for all calls. A rank that has nothing to do is done when it begins. `computing`: for how long
  /// each rank has a core from then on, where they are shared; `before`: since the last call, in
  /// the order of time. Errors as of predict().
  Result<std::vector<double>> next(std::span<const Schedule> schedules, Count unit_bytes,
                                   std::span<const double> arrivals,
                                   std::span<const double> computing = {},
                                   std::span<const Traffic> before = {});

 private:
  const Machine& machine_;
  std::span<const int> node_of_rank_;
  TransportKind transport_;
  const TorusPlacement* torus_;
  std::unique_ptr<LeftOver> left_;  ///< by the call before
};

}  // namespace unisono
