// Straggler: the early ranks allgather among themselves while they wait; the late one, on arrival,
// spreads its block on a binomial tree and receives all others from one rank at once.
// Rounds q + max(2, q), bytes (p - 1) b per rank. After the last arrival the late rank receives
// (p - 1) b, the bound, and all others are done after q rounds of b; a ring keeps everyone for
// p - 1. Of several late ranks the very last counts. Scratch: all blocks but the last, on ranks
// where they do not adjoin. Any p, any counts. Right whoever is late.
// Source: own; the early group as in StragglAR, arXiv 2505.23523 (2025).
#include "algorithms/algorithms.h"
#include "patterns/arrival.h"
#include "patterns/blocks.h"
#include "patterns/phases.h"

namespace unisono::allgather {

namespace {

/// All blocks but that of `late`. `feeder` passes them on to it, the blocks on either side of its
/// own as one message.
void early_blocks(Builder& b, int late, int feeder) {
  const int out[] = {late};
  const Rotation early{b.size() - 1, 0, out};
  const BlockOrder order(b.args().recv, early);
  UserRuns runs(b, order, kOutput);
  const Slice all = runs.place(0, early.size);
  const int v = early.position(b.rank());
  b.copy(b.input(), order.part(all, 0, v, v + 1));
  circulant_allgather(b, early, order.partition(all));
  if (b.rank() == feeder) {
    b.send(late, order.part(all, 0, 0, late));
    b.send(late, order.part(all, 0, late, early.size));
  }
  runs.unpack();
}

void receive_from(Builder& b, int feeder) {
  const int late = b.rank();
  UserRuns runs(b, BlockOrder(b.args().recv, {b.size()}), kOutput);
  b.recv(feeder, runs.place(0, late));
  b.recv(feeder, runs.place(late + 1, b.size()));
  runs.unpack();
}

}  // namespace

void straggler(Builder& b) {
  const int late = ArrivalOrder(b.args()).last();
  const Rotation from_late{b.size(), late};
  const int feeder = from_late.rank(1);  // a leaf of the tree
  if (b.rank() == late) b.copy(b.input(), b.output_block(late));
  if (b.size() == 1) return;
  if (b.rank() != late) early_blocks(b, late, feeder);
  tree_bcast(b, from_late, 2, b.output_block(late));
  if (b.rank() == late) receive_from(b, feeder);
}

}  // namespace unisono::allgather
