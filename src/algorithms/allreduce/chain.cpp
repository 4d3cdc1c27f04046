// Chain: the sum comes down the ranks from the last to the first, in segments, and goes back up to
// everyone: "rpipe", then "pcast". Rounds 2 (p - 2 + n), bytes 2 m per rank; T = 2 (p - 2 + n)
// (alpha + max(beta, gamma) m / n).
// pipeline: both at once; a segment is on its way back as soon as it is summed. Rounds 2 (p + n),
// for a rank has two segments to send; T = (2 (p - 1) + n - 1)(alpha + 2 beta m / n), with beta m/n
// where each neighbour has a link of its own.
// Rank order is kept: the operation need not commute. Any p. Scratch: in place, `window` segments.
// One rank has the sum: the same bits for all. Source: Worringer, Pipelining and Overlapping for
// MPI Collective Operations (2003), which describes the single pipeline and leaves it to be done.
#include "algorithms/algorithms.h"
#include "patterns/arrival.h"

namespace unisono::allreduce {

namespace {

Slice result_of(const Builder& b, Slice segment) {
  return b.output().part(segment.offset - b.input().offset, segment.length);
}

void sum_up(Builder& b, ChainSum& sums, Slice segment) {
  const bool last = b.rank() == b.size() - 1;
  const Slice sum = last ? segment : sums.add(b.rank() + 1, segment);
  b.rank() > 0 ? b.send(b.rank() - 1, sum) : b.copy(sum, result_of(b, segment));
}

void hand_out(Builder& b, Slice segment) {
  if (b.rank() > 0) b.recv(b.rank() - 1, result_of(b, segment));
  if (b.rank() < b.size() - 1) b.send(b.rank() + 1, result_of(b, segment));
}

}  // namespace

void chain(Builder& b) {
  ChainSum sums(b, b.args().in_place ? Slice{} : b.output());
  const auto all = segments(b.input(), b.args());
  for (const Slice segment : all) sum_up(b, sums, segment);
  b.end_round();
  for (const Slice segment : all) hand_out(b, segment);
}

void pipeline(Builder& b) {
  ChainSum sums(b, b.args().in_place ? Slice{} : b.output());
  const auto all = segments(b.input(), b.args());
  // In the order in which it comes to pass: there and back again takes a segment 2 `rank` rounds.
  const auto delay = static_cast<std::size_t>(2 * b.rank());
  for (std::size_t i = 0; i < all.size() + delay; ++i) {
    if (i < all.size()) sum_up(b, sums, all[i]);
    if (i >= delay) hand_out(b, all[i - delay]);
  }
}

}  // namespace unisono::allreduce
