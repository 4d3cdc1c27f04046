#include "patterns/phases.h"

#include <algorithm>
#include <bit>
#include <ranges>
#include <vector>

#include "patterns/accumulator.h"
#include "patterns/circulant.h"
#include "patterns/two_tree.h"
#include "patterns/window.h"

namespace unisono {

// ---- trees --------------------------------------------------------------------------------------

void tree_bcast(Builder& b, const Rotation& order, const TreeNode& node, Slice vector) {
  if (node.parent >= 0) b.recv(order.rank(node.parent), vector);
  for (const auto& child : node.children) b.send(order.rank(child.rank), vector);
}

void tree_bcast(Builder& b, const Rotation& order, int radix, Slice vector) {
  tree_bcast(b, order, knomial_node(order.position(b.rank()), order.size, radix), vector);
}

// The smallest subtree is the nearest one, on either side of what is summed up already.
Slice tree_reduce(Builder& b, const Rotation& order, const TreeNode& node, Slice own,
                  Slice workspace, int buffers) {
  Accumulator sum(b, own, workspace, !b.args().commutative, buffers);
  const int self = order.position(b.rank());
  for (const auto& child : node.children | std::views::reverse)
    sum.receive(order.rank(child.rank), child.rank < self ? Side::left : Side::right);
  if (node.parent >= 0) b.send(order.rank(node.parent), sum.value());
  return sum.value();
}

Slice tree_reduce(Builder& b, const Rotation& order, int radix, Slice own, Slice workspace) {
  const TreeNode node = knomial_node(order.position(b.rank()), order.size, radix);
  const auto children = static_cast<int>(node.children.size());
  return tree_reduce(b, order, node, own, workspace, 1 + std::clamp(children, 1, radix - 1));
}

// ---- rings --------------------------------------------------------------------------------------

void ring_allgather(Builder& b, const Rotation& order, const Partition& blocks, int held,
                    int next_held) {
  const int p = order.size;
  const int v = order.position(b.rank());
  for (int s = 0; s < p - 1; ++s) {
    if (s < p - next_held)
      for (const Slice segment : segments(blocks.block(order.wrap(v - s)), b.args()))
        b.send(order.rank(v + 1), segment);
    if (s < p - held)
      for (const Slice segment : segments(blocks.block(order.wrap(v - 1 - s)), b.args()))
        b.recv(order.rank(v - 1), segment);
  }
}

// Block i starts at position i + 1 and collects the contributions on its way round.
void ring_reduce_scatter(Builder& b, const Rotation& order, const Partition& input, Slice result) {
  const int p = order.size;
  const int v = order.position(b.rank());
  Slice held = input.block(order.wrap(v - 1));
  const Count longest = input.longest_block();
  const Slice buffers[] = {b.scratch(longest), b.scratch(longest)};
  for (int s = 0; s < p - 1; ++s) {
    const Slice own = input.block(order.wrap(order.wrap(v - 1 - s) - 1));
    const bool into_result = s == p - 2 && result.buffer != own.buffer;
    const Slice sum = into_result ? result : buffers[s % 2].part(0, own.length);
    for (const Slice segment : segments(held, b.args())) b.send(order.rank(v + 1), segment);
    for (const Slice segment : segments(sum, b.args())) {
      b.recv(order.rank(v - 1), segment);
      b.reduce(own.part(segment.offset - sum.offset, segment.length), segment);
    }
    held = sum;
  }
  b.copy(held, result);
}

// ---- circulant graphs ---------------------------------------------------------------------------

// Position v holds partial sums of the blocks v, v + 1, ..., v + s - 1. A round halves s: the upper
// half goes to position v + ceil(s / 2), for which it is the lower half.
Slice circulant_reduce_scatter(Builder& b, const Rotation& order, const Partition& input) {
  const int p = order.size;
  const int v = order.position(b.rank());
  if (p == 1) return input.block(0);
  const auto length = [&](int blocks) { return input.cyclic_length(v, blocks); };

  int half = (p + 1) / 2;
  const Slice sum = b.scratch(length(half));
  const Slice incoming = b.scratch(length(half / 2));
  for (const Slice part : input.cyclic(v + half, p - half)) b.send(order.rank(v + half), part);
  Count at = 0;
  for (const Slice own : input.cyclic(v, p - half)) {
    const Slice received = sum.part(at, own.length);
    b.recv(order.rank(v - half), received);
    b.reduce(own, received);
    at += own.length;
  }
  if (p % 2 != 0) {  // the middle block has no partner in the first round
    const Slice middle = input.block(order.wrap(v + half - 1));
    b.copy(middle, sum.part(at, middle.length));
  }
  for (int s = half; s > 1; s = half) {
    half = (s + 1) / 2;
    b.send(order.rank(v + half), sum.part(length(half), length(s) - length(half)));
    const Slice received = incoming.part(0, length(s - half));
    b.recv(order.rank(v - half), received);
    b.reduce(received, sum.part(0, received.length));
  }
  return sum.part(0, length(1));
}

// The rounds of the reduce-scatter backwards, with senders and receivers exchanged.
void circulant_allgather(Builder& b, const Rotation& order, const Partition& blocks) {
  const int v = order.position(b.rank());
  std::vector<int> sizes;
  for (int s = order.size; s > 1; s = (s + 1) / 2) sizes.push_back(s);
  for (const int s : sizes | std::views::reverse) {
    const int half = (s + 1) / 2;
    for (const Slice part : blocks.cyclic(v, s - half)) b.send(order.rank(v - half), part);
    for (const Slice part : blocks.cyclic(v + half, s - half)) b.recv(order.rank(v + half), part);
  }
}

namespace {

/// A broadcast by rounds, params.window of them under way.
template <class Plan>
void run_rounds(Builder& b, const Rotation& order, std::span<const Slice> blocks, const Plan& plan,
                RoundWindow::Credits credits = RoundWindow::Credits::no) {
  RoundWindow rounds(b, b.args().params.window, credits);
  for (Count i = 0; i < plan.rounds(); ++i, rounds.next_round()) {
    const BroadcastRound round = plan.round(i);
    if (round.received >= 0)
      rounds.recv(order.rank(round.from), blocks[static_cast<std::size_t>(round.received)]);
    if (round.sent >= 0)
      rounds.send(order.rank(round.to), blocks[static_cast<std::size_t>(round.sent)]);
  }
}

}  // namespace

// Source: Traeff, (Poly)Logarithmic Time Construction of Round-optimal n-Block Broadcast Schedules
// (2022); arXiv 2407.18004.
void circulant_bcast(Builder& b, const Rotation& order, std::span<const Slice> blocks) {
  run_rounds(b, order, blocks,
             CirculantBroadcast(order.size, order.position(b.rank()), std::ssize(blocks)));
}

// ---- two trees ----------------------------------------------------------------------------------

void two_tree_bcast(Builder& b, const Rotation& order, std::span<const Slice> blocks,
                    RoundWindow::Credits credits) {
  run_rounds(b, order, blocks,
             TwoTreeBroadcast(order.size, order.position(b.rank()), std::ssize(blocks)), credits);
}

// ---- direct -------------------------------------------------------------------------------------

namespace {

/// Where the vectors of the ranks before `ranks` lie.
std::vector<Slice> received(Builder& b, Slice own, int ranks) {
  const Slice all = b.scratch(own.length * ranks);
  std::vector<Slice> terms;
  for (int rank = 0; rank < ranks; ++rank) terms.push_back(all.part(rank * own.length, own.length));
  const auto term = [&](int rank) { return terms[static_cast<std::size_t>(rank)]; };
  const Rotation from_here{b.size(), b.rank()};
  for (int i = 1; i < b.size(); ++i)
    if (const int rank = from_here.rank(i); rank < ranks) b.recv(rank, term(rank));
  if (b.rank() < ranks) b.copy(own, term(b.rank()));
  return terms;
}

/// The first 2 n of them become n sums, and the others stay.
std::vector<Slice> added_in_pairs(Builder& b, const std::vector<Slice>& terms, std::size_t n) {
  std::vector<Slice> sums;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (i < 2 * n) {
      b.reduce(terms[i], terms[i + 1]);
      ++i;
    }
    sums.push_back(terms[i]);
  }
  return sums;
}

}  // namespace

Slice sum_of_received_from_left(Builder& b, Slice own, int ranks) {
  const std::vector<Slice> terms = received(b, own, ranks);
  for (std::size_t i = 1; i < terms.size(); ++i) b.reduce(terms[i - 1], terms[i]);
  return terms.back();
}

Slice sum_of_received(Builder& b, Slice own) {
  std::vector<Slice> sums = received(b, own, b.size());
  sums = added_in_pairs(b, sums, sums.size() - std::bit_floor(sums.size()));
  while (sums.size() > 1) sums = added_in_pairs(b, sums, sums.size() / 2);
  return sums.front();
}

Slice direct_reduce_scatter(Builder& b, const Partition& input) {
  const Rotation from_here{b.size(), b.rank()};
  for (int i = 1; i < b.size(); ++i) b.send(from_here.rank(i), input.block(from_here.rank(i)));
  return sum_of_received(b, input.block(b.rank()));
}

void direct_allgather(Builder& b, const std::function<Slice(int)>& block) {
  const Rotation from_here{b.size(), b.rank()};
  for (int i = 1; i < b.size(); ++i) {
    b.send(from_here.rank(i), block(b.rank()));
    b.recv(from_here.rank(i), block(from_here.rank(i)));
  }
}

}  // namespace unisono
