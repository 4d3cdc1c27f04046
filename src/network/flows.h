// What the schedules of all ranks would take on a network with links: each message is a flow, from
// when its send and its receive are both posted, and flows that meet on a link share it.
//
// It is SMPI's model of time (docs/adr/0008-simulator.md) without SMPI: a message takes the latency
// of its links, then its bytes and 16 more at its share of them; at most two are under way on a
// channel; a rank does one thing at a time, and a reduction costs its host a flop an element.
// Copies are free. Nothing is executed, and no data exist. Times are whole picoseconds, and what
// happens at the same moment happens in the order in which it became known: the same in every run.
//
// Cost: O(log n) a message with n under way, where no two meet; else what Sharing says, once for
// each moment. Memory: some 40 bytes an operation (program.h).
#pragma once
#include <span>
#include <vector>

#include "base/result.h"
#include "network/network.h"
#include "network/program.h"

namespace unisono {

/// As SMPI has them (python/unisono/sim/smpi.py).
struct FlowOptions {
  Count eager = -1;     ///< bytes: messages up to this size do not wait for their receive
  Count envelope = 16;  ///< bytes that each message has more
  Count element_bytes = 4;
};

struct FlowTimes {
  double seconds = 0;                   ///< until the last rank is done, all starting at once
  std::vector<double> seconds_of_rank;  ///< of each
  std::vector<Count> bytes_over;        ///< each link, without envelopes
  std::vector<Count> messages_over;     ///< the same
  Count messages = 0, bytes = 0;        ///< altogether
  Count slowed = 0;                     ///< messages that once had less than the whole of a link
};

/// Rank r is on host_of_rank[r]; messages between two ranks of a host take none of its links. The
/// error is one line: schedules that do not match.
Result<FlowTimes> simulate_flows(std::vector<Program> programs, const Network& network,
                                 std::span<const int> host_of_rank,
                                 const FlowOptions& options = {});

}  // namespace unisono
