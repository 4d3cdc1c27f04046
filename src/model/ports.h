// What messages keep while they pass: ports, cores, and what all share.
#pragma once
#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <vector>

#include "model/graph.h"
#include "model/machine.h"

namespace unisono {

/// When a service begins and ends.
struct Service {
  double begin = 0, end = 0;
};

/// Serves one after the other.
struct Server {
  double free = 0;
  double due = -std::numeric_limits<double>::infinity();  // of a shaped port: when what it has let
                                                          // pass is paid for

  /// When the service begins.
  double serve(double now, double seconds) {
    const double begin = std::max(now, free);
    free = begin + seconds;
    return begin;
  }

  /// The same for a port that lets pass in `fast` what a message of `seconds` takes, for as long as
  /// its credit, so many seconds at most, is not used up: a token bucket.
  Service pass(double now, double seconds, double fast, double credit) {
    const double begin = std::max(now, free);
    due = std::max(due, begin - credit) + seconds;
    free = std::max(begin + std::min(fast, seconds), due);
    return {begin, free};
  }
};

/// A level's ports, of ranks or nodes, and what is shared: on each node, or by all.
struct Ports {
  std::vector<Server> out, in, shared;
};

using AllPorts = std::array<Ports, kMessageLevels>;

/// A rank's core, where its messages go through the memory of its node: it does one thing at a
/// time, and reads what others have sent when there is nothing to write, as the messenger does.
struct Core {
  std::queue<VertexId> own, to_read;
  bool is_busy = false;
};

}  // namespace unisono
