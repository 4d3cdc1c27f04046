// Gathering up and scattering down a tree: every rank handles the blocks of its own subtree, which
// are one run because subtrees are intervals of positions. A run is one message, or one for each
// segment of params.segment, so that a rank passes on what has come while the rest is on its way.
#pragma once
#include <functional>

#include "patterns/tree.h"
#include "schedule/builder.h"

namespace unisono {

/// The slice that holds the blocks of the positions [from, to), where position v of the tree is
/// rank (root + v) % p. Asked once for every child's interval and once for the own subtree.
using RunOf = std::function<Slice(int from, int to)>;

/// Receives the children's runs and sends the own one up. The own block must be in place.
void gather_tree(Builder& b, const TreeNode& node, int root, const RunOf& run);

/// The reverse: receives the own run and sends the children theirs, the largest first.
void scatter_tree(Builder& b, const TreeNode& node, int root, const RunOf& run);

}  // namespace unisono
