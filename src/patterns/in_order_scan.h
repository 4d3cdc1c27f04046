// Prefix sums through trees whose subtrees are intervals of ranks.
#pragma once
#include <cstddef>
#include <span>

#include "patterns/two_tree.h"
#include "schedule/builder.h"

namespace unisono {

/// Scan or exscan through in-order trees on the positions 1..size, of which rank r is r + 1: the
/// sums of subtrees come up, what lies before them goes down, and a rank keeps the sum of its left
/// subtree and itself in the output meanwhile. `trees`: what this rank is in each of them; segment
/// i goes through number i mod trees.size(). `delay`, the same on all ranks: segments that have
/// come up, in the order of the program, when the first goes down.
/// Scratch: 2 (`window` + 1) segments; exscan in place: a vector more. Rank order kept.
void in_order_scan(Builder& b, std::span<const InOrderNode> trees, std::size_t delay);

}  // namespace unisono
