// Credits: all messages at once, in segments, each at a rate in proportion to its length, so that
// all are through together: the fluid optimum, for then no port has more than its part of any
// moment. A rank tells the sender of each segment that it has come; that is the credit for another
// one. At most `window` segments of a rank are under way to all others, and so many to each that
// no rank has more than twice as much on its way to it, or a segment of each, whatever the counts
// are and whoever is late: a port of a switch has to hold that (incast). No counts are exchanged.
// Of equal blocks that are short only as many are acknowledged as a later one waits for; so half as
// many are under way, for those of the call before may be, too. Rounds: n segments and credits of
// each message at once; bytes as the counts say; T = alpha + beta L, where the busiest port has L
// bytes, if a window passes in no less time than a segment and its credit take. Any p, any counts.
// Source: own. Credits per segment as in pHost (Gao et al. 2015) and ExpressPass (Cho et al. 2017);
// rates in proportion are the preemptive open shop's optimum (Gonzalez, Sahni 1976) without its
// phases.
//
// All segments and their credits have one order on all ranks: by the time at which they would pass
// if all messages began and ended together. Whatever waits, waits for what is before it in this
// order: so nothing can deadlock.
#include <algorithm>
#include <tuple>
#include <vector>

#include "algorithms/algorithms.h"
#include "patterns/blocks.h"
#include "patterns/partition.h"

namespace unisono::alltoall {

namespace {

constexpr Count kInPerOut = 2;  // into a rank as against out of it

struct Segment {
  double when;  // 0 to 1
  int from, to;
  Slice slice;
};

/// Of rank + i a little later than of rank + i - 1: not all ranks send to the same one at once.
void add(std::vector<Segment>& all, int from, int to, const std::vector<Slice>& parts,
         double shift) {
  for (std::size_t k = 0; k < parts.size(); ++k)
    all.push_back(
        {(static_cast<double>(k) + shift) / static_cast<double>(parts.size()), from, to, parts[k]});
}

/// How much may be under way, in segments, and which of them have credits.
struct Limits {
  Count window;    // of a rank
  Count pair;      // to one other
  Count segments;  // of a rank; 0: credits for all

  explicit Limits(const Args& args) : window(args.params.window), segments(0) {
    const Count others = args.size - 1;
    const Count bytes = window * args.params.segment;
    pair = std::max<Count>(1, kInPerOut * window / std::max<Count>(1, others));
    const Count block = args.send.count * args.unit_bytes;
    if (args.collective != Collective::alltoall || block == 0 || block > args.params.segment ||
        2 * block * others > kInPerOut * bytes)
      return;
    window = std::max<Count>(1, bytes / (2 * block));
    segments = others;
  }
  /// For the n-th segment of a rank.
  bool has_credit(Count n) const { return segments == 0 || n + window < segments; }
};

/// The next op, which is number `n` of its kind, waits for the one `width` before it.
void wait(Builder& b, const std::vector<OpId>& ops, Count n, Count width) {
  if (n >= width) b.after(ops[static_cast<std::size_t>(n - width)]);
}

}  // namespace

void credits(Builder& b) {
  const Rotation from_here{b.size(), b.rank()};
  const Limits limits(b.args());
  const auto input_block = staged_input(b);
  b.copy(input_block(b.rank()), b.output_block(b.rank()));
  std::vector<Segment> all;
  for (int i = 1; i < b.size(); ++i) {
    const double shift = static_cast<double>(i) / b.size();
    const int from = from_here.rank(-i), to = from_here.rank(i);
    add(all, from, b.rank(), segments(b.output_block(from), b.args()), shift);
    add(all, b.rank(), to, segments(input_block(to), b.args()), shift);
  }
  std::sort(all.begin(), all.end(), [](const Segment& a, const Segment& o) {
    return std::tie(a.when, a.from, a.to) < std::tie(o.when, o.from, o.to);
  });
  std::vector<OpId> credited;  // of all segments of this rank
  std::vector<std::vector<OpId>> received(static_cast<std::size_t>(b.size())),
      credited_by = received;
  Count sent = 0;
  for (const Segment& segment : all) {
    if (segment.to == b.rank()) {
      auto& from = received[static_cast<std::size_t>(segment.from)];
      wait(b, from, std::ssize(from), limits.pair);
      from.push_back(b.recv(segment.from, segment.slice));
      // As the sender counts: its equal blocks leave in the order of the distance.
      const Rotation from_there{b.size(), segment.from};
      if (!limits.has_credit(from_there.position(b.rank()) - 1)) continue;
      b.after(from.back());
      b.send_token(segment.from);
      continue;
    }
    auto& to = credited_by[static_cast<std::size_t>(segment.to)];
    wait(b, credited, sent, limits.window);
    wait(b, to, std::ssize(to), limits.pair);
    b.send(segment.to, segment.slice);
    if (!limits.has_credit(sent++)) continue;
    // One receive of a credit a rank at a time: a library looks through all that are open.
    wait(b, to, std::ssize(to), 1);
    to.push_back(b.recv_token(segment.to));
    credited.push_back(to.back());
  }
}

}  // namespace unisono::alltoall
