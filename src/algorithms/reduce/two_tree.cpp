// Two trees: the broadcast's rounds backwards, every message reversed; half of the segments come up
// each of two trees, in which no rank has children in both.
// Rounds at most n - 1 + 2 (1 + log2 p), bytes m per rank; T = (n + 2 log2 p)(alpha + (beta +
// gamma) m / n). Subtrees are intervals of ranks, so that order is kept: with an operation that
// does not commute the trees end at rank 0 and the sum takes one more hop, another m at the root.
// Scratch: up to 3 (`window` + 1) segments. Any p, any root.
// Source: Sanders, Speck, Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and
// scan (2009).
#include "patterns/two_tree.h"
#include "algorithms/algorithms.h"
#include "patterns/partition.h"
#include "patterns/rotation.h"
#include "patterns/window.h"

namespace unisono::reduce {

namespace {

void reduce_by_two_trees(Builder& b, RoundWindow::Credits credits) {
  const Args& args = b.args();
  const Rotation order{args.size, args.commutative ? args.root : 0};
  const int position = order.position(args.rank);
  const Slice own = b.input();
  const auto blocks = segments(own, args);
  const TwoTreeBroadcast plan(args.size, position, std::ssize(blocks));
  RoundWindow rounds(b, args.params.window, credits);
  const auto result = [&](std::size_t k) {
    return b.output().part(blocks[k].offset - own.offset, blocks[k].length);
  };

  // What has come for block k from positions below, or, if order does not matter, second.
  std::vector<Slice> before(blocks.size()), behind(blocks.size());
  const Count longest = args.segment_of(own.length);
  Slots lower(b, longest, args.params.window + 1), higher(b, longest, args.params.window + 1);
  Slots copies(b, longest, args.params.window + 1);
  const auto sum = [&](std::size_t k) {
    Slice sum = behind[k];
    if (sum.length > 0)
      b.reduce(blocks[k], sum);
    else if (before[k].length > 0)
      b.copy(blocks[k], sum = copies.next(blocks[k].length));
    else
      return blocks[k];
    if (before[k].length > 0) b.reduce(before[k], sum);
    return sum;
  };

  const bool in_output = position == 0 && args.is_root() && !args.in_place;
  for (Count i = plan.rounds() - 1; i >= 0; --i, rounds.next_round()) {
    const BroadcastRound round = plan.round(i);
    if (round.received >= 0)
      rounds.send(order.rank(round.from), sum(static_cast<std::size_t>(round.received)));
    if (round.sent < 0) continue;
    const auto k = static_cast<std::size_t>(round.sent);
    const bool is_behind = args.commutative ? behind[k].length == 0 : round.to > position;
    Slice& term = (is_behind ? behind : before)[k];
    term = in_output ? result(k) : (is_behind ? higher : lower).next(blocks[k].length);
    rounds.recv(order.rank(round.to), term);
    if (position > 0) continue;
    args.is_root() ? b.copy(sum(k), result(k)) : b.send(args.root, sum(k));
  }
  if (position > 0 && args.is_root())
    for (std::size_t k = blocks.size(); k-- > 0;) b.recv(order.rank(0), result(k));
  if (args.size == 1) b.copy(own, b.output());
}

}  // namespace

void two_tree(Builder& b) { reduce_by_two_trees(b, RoundWindow::Credits::no); }

// The same with a message without content for each segment that has come: no more than `window`
// segments out of a rank are under way, whoever is late. Commutative operations only: otherwise the
// sum would take one more way.
void two_tree_credits(Builder& b) { reduce_by_two_trees(b, RoundWindow::Credits::yes); }

}  // namespace unisono::reduce
