// Straggler: the early ranks reduce-scatter while they wait and bring the sum of each block to a
// rank that will have nothing else to send when it is needed; the late ranks add their parts, and
// the last broadcasts a block on a circulant graph while it receives the next.
// Rounds 3 q + e for e early ranks (p - 1 of them usually), bytes about 2 m per rank. After the
// last arrival e + q rounds of m / e are left (up to e / 3 more, as counted without planning),
// next to the bound m and to 2 m of a ring. Scratch: 3/4 of a vector. Commutative operations (the
// order is that of arrival), any p. Right whoever is late. One rank has the sum: the same bits for
// all. Source: own; early reduce-scatter as in StragglAR, arXiv 2505.23523 (2025), broadcast:
// Traeff 2022.
#include "algorithms/algorithms.h"
#include "patterns/arrival.h"
#include "patterns/circulant.h"
#include "patterns/phases.h"

namespace unisono::allreduce {

void straggler(Builder& b) {
  const ArrivalOrder order(b.args());
  if (b.size() == 1) return void(b.copy(b.input(), b.output()));
  const Rotation early = order.early();
  const Rotation from_last{b.size(), order.last()};
  const auto all = pieces(b, order);
  const CirculantBroadcast plan(b.size(), 0, std::ssize(all));
  // Piece i comes to the last rank in the round before that in which it leaves.
  const auto source = [&](int i) {
    const int idle = from_last.rank(plan.idle_rank(i == 0 ? plan.rounds() : i - 1));
    return order.is_late(idle) ? early.rank(all[static_cast<std::size_t>(i)].early) : idle;
  };

  if (!order.is_late(b.rank())) {
    const int v = early.position(b.rank());
    const Partition input(b.input(), early.size);
    const Slice sum = circulant_reduce_scatter(b, early, input);
    const Count begin = input.block(v).offset - b.input().offset;
    for (int i = 0; i < std::ssize(all); ++i) {
      const Piece& piece = all[static_cast<std::size_t>(i)];
      const int to = source(i);
      const Slice slice =
          piece.early == v ? sum.part(piece.at - begin, piece.output.length) : piece.output;
      if (piece.early != v && to == b.rank()) b.recv(early.rank(piece.early), slice);
      if (to == b.rank()) b.send(order.late().front(), slice);
      if (piece.early == v && to != b.rank()) b.send(to, slice);
    }
  }
  add_late(b, order, all, source);
  std::vector<Slice> output;
  for (const Piece& piece : all) output.push_back(piece.output);
  circulant_bcast(b, from_last, output);
}

}  // namespace unisono::allreduce
