// Credits: all messages at once, each at a rate in proportion to its length, so that all are
// through together: the fluid optimum, for then no port has more than its part of any moment. A
// receiver sends a credit for each segment, `window` of them in all; a sender's part of the window
// is its part of what the receiver expects. So a flow waits for nobody but itself, and about
// `window` segments meet at a receiver (incast), whoever is late: the queue of a switch's port has
// to hold them. Parts are rounded: twice `window` at most. Senders whose part is less than half a
// segment are asked one after the other, with what they have together. Every rank decides by its
// own arguments: no counts are exchanged. Rounds: n segments and credits of each message at once;
// bytes as the counts say; T = alpha + beta L, where the busiest port has L bytes, if a window
// passes in no less time than a credit and its segment take. Any p, any counts. Source: own.
// Credits per segment as in pHost (Gao et al. 2015) and ExpressPass (Cho et al. 2017); rates in
// proportion are the preemptive open shop's optimum (Gonzalez, Sahni 1976) without its phases.
//
// What goes from one rank to another, credits and segments of both directions, has one order on
// both: by the time at which it would pass if all messages began and ended together. Both ranks
// know the lengths of both messages. A credit waits for segments that its rank has asked for
// before, a segment for its credit, and nothing for anything else: so nothing can deadlock.
#include <algorithm>
#include <tuple>
#include <vector>

#include "algorithms/algorithms.h"
#include "patterns/blocks.h"
#include "patterns/partition.h"

namespace unisono::alltoall {

namespace {

struct Segment {
  double when;  // 0 to 1
  int from, to;
  Slice slice;
};

/// Of rank + i a little later than of rank + i - 1: not all ranks ask the same one at once.
void add(std::vector<Segment>& all, int from, int to, const std::vector<Slice>& parts,
         double shift) {
  for (std::size_t k = 0; k < parts.size(); ++k)
    all.push_back(
        {(static_cast<double>(k) + shift) / static_cast<double>(parts.size()), from, to, parts[k]});
}

/// The receives of a rank, each of which waits for one before it that has the same window.
class Windows {
 public:
  Windows(const std::vector<Count>& segments_from, Count window)
      : flows_(segments_from.size() + 1) {
    Count total = 0, others = 0;
    for (const Count n : segments_from) total += n;
    const auto part = [&](Count n) { return total == 0 ? 0 : (window * n + total / 2) / total; };
    for (std::size_t from = 0; from < segments_from.size(); ++from) {
      flows_[from].window = part(segments_from[from]);
      if (flows_[from].window == 0) others += segments_from[from];
    }
    flows_.back().window = std::max<Count>(1, part(others));
  }

  void ask_for(Builder& b, const Segment& segment) {
    Flow& own = flows_[static_cast<std::size_t>(segment.from)];
    Flow& flow = own.window > 0 ? own : flows_.back();
    if (std::ssize(flow.received) >= flow.window)
      b.after(flow.received[flow.received.size() - static_cast<std::size_t>(flow.window)]);
    b.send_token(segment.from);
    flow.received.push_back(b.recv(segment.from, segment.slice));
  }

 private:
  struct Flow {
    Count window = 0;  // segments
    std::vector<OpId> received = {};
  };
  std::vector<Flow> flows_;  // of each sender; the last: of all that have no window of their own
};

}  // namespace

void credits(Builder& b) {
  const Rotation from_here{b.size(), b.rank()};
  const auto input_block = staged_input(b);
  b.copy(input_block(b.rank()), b.output_block(b.rank()));
  std::vector<Segment> all;
  std::vector<Count> segments_from(static_cast<std::size_t>(b.size()));
  for (int i = 1; i < b.size(); ++i) {
    const double shift = static_cast<double>(i) / b.size();
    const int from = from_here.rank(-i), to = from_here.rank(i);
    const auto expected = segments(b.output_block(from), b.args());
    segments_from[static_cast<std::size_t>(from)] = std::ssize(expected);
    add(all, from, b.rank(), expected, shift);
    add(all, b.rank(), to, segments(input_block(to), b.args()), shift);
  }
  std::sort(all.begin(), all.end(), [](const Segment& a, const Segment& o) {
    return std::tie(a.when, a.from, a.to) < std::tie(o.when, o.from, o.to);
  });
  Windows windows(segments_from, b.args().params.window);
  std::vector<OpId> asked(segments_from.size(), kNoOp);
  for (const Segment& segment : all) {
    if (segment.to == b.rank()) {
      windows.ask_for(b, segment);
      continue;
    }
    // One receive of a credit a receiver at a time: a library looks through all that are open.
    OpId& last = asked[static_cast<std::size_t>(segment.to)];
    if (last != kNoOp) b.after(last);
    last = b.recv_token(segment.to);
    b.after(last);
    b.send(segment.to, segment.slice);
  }
}

}  // namespace unisono::alltoall
