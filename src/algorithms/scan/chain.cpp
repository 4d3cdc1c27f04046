// Chain, for scan and exscan: a rank takes the sum of all before it from rank - 1, puts its own
// contribution to the right of it and passes the result on; with segments this is a pipeline.
// Rounds p - 2 + n, bytes m per rank; T = (p - 2 + n)(alpha + (beta + gamma) m / n).
// Optimal in beta m, bad start-up for large p; linear is n = 1. Any p, rank order kept.
// Source: Worringer, Pipelining and Overlapping for MPI Collective Operations (2003).
#include <algorithm>
#include <vector>

#include "algorithms/algorithms.h"
#include "patterns/partition.h"
#include "patterns/window.h"

namespace unisono::scan {

namespace {

void pipeline(Builder& b, const std::vector<Slice>& output_segments) {
  constexpr Count kSegmentsInScratch = 8;
  const int rank = b.rank();
  const bool last = rank == b.size() - 1;
  const bool exclusive = b.args().collective == Collective::exscan;
  const Count longest = output_segments.empty() ? 0 : output_segments.front().length;
  Slots slots(b, longest, std::min(std::ssize(output_segments), kSegmentsInScratch));

  for (const Slice out : output_segments) {
    const Slice in = b.input().part(out.offset, out.length);
    const Slice scratch = slots.next(out.length);
    // Of the sum before this rank and the sum with it, one is the result.
    const Slice before = exclusive ? out : scratch;
    const Slice with = exclusive ? scratch : out;
    const bool needs_with = !exclusive || !last;
    if (needs_with) b.copy(in, with);
    if (rank > 0) b.recv(rank - 1, before);
    if (rank > 0 && needs_with) b.reduce(before, with);
    if (!last) b.send(rank + 1, with);
  }
}

}  // namespace

void linear(Builder& b) { pipeline(b, {b.output()}); }
void chain(Builder& b) { pipeline(b, segments(b.output(), b.args())); }

}  // namespace unisono::scan
