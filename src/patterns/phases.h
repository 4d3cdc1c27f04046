// Parts that several algorithms are made of. Each writes what this rank does in it; parts written
// one after the other overlap where the data allow it.
#pragma once
#include <functional>
#include <span>

#include "patterns/partition.h"
#include "patterns/rotation.h"
#include "patterns/tree.h"
#include "patterns/window.h"
#include "schedule/builder.h"

namespace unisono {

// --- trees ---------------------------------------------------------------------------------------
/// From the top of a tree over the positions of `order` to everyone; `node`: this rank's.
void tree_bcast(Builder& b, const Rotation& order, const TreeNode& node, Slice vector);
/// To its top, in the order of positions; the sum there, a partial sum elsewhere. `workspace`:
/// memory that the sum may lie in, or nothing. `buffers`: see Accumulator.
Slice tree_reduce(Builder& b, const Rotation& order, const TreeNode& node, Slice own,
                  Slice workspace, int buffers = 2);

// --- k-nomial trees with the root at position 0 of `order` ---------------------------------------
/// From position 0 to everyone. ceil(log_k p) levels.
void tree_bcast(Builder& b, const Rotation& order, int radix, Slice vector);

/// To position 0, in the order of positions; the sum there, a partial sum elsewhere. `workspace`:
/// memory that the sum may lie in, or nothing.
Slice tree_reduce(Builder& b, const Rotation& order, int radix, Slice own, Slice workspace);

// --- rings: p - 1 rounds of one block ------------------------------------------------------------
/// Position v has block v at the start, everyone all of them at the end; blocks in segments of
/// params.segment. `held`, `next_held`: how many blocks from the own one on this rank and the next
/// already have and need not receive.
void ring_allgather(Builder& b, const Rotation& order, const Partition& blocks, int held = 1,
                    int next_held = 1);

/// The sum of block v into `result` on position v, in cyclic order; blocks in segments of
/// params.segment.
void ring_reduce_scatter(Builder& b, const Rotation& order, const Partition& input, Slice result);

// --- circulant graphs: q rounds, (p - 1) / p of the vector, any p --------------------------------
// Source: Traeff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms (2024), arXiv
// 2410.14234. One message a round, two where the range of blocks closes the ring.

/// Returns where the sum of block v lies on position v, in cyclic order. Scratch: 3/4 of a vector.
Slice circulant_reduce_scatter(Builder& b, const Rotation& order, const Partition& input);

/// Position v has block v at the start, everyone all of them at the end.
void circulant_allgather(Builder& b, const Rotation& order, const Partition& blocks);

/// The blocks of a vector from position 0 to everyone, in this order, params.window rounds under
/// way: n - 1 + q rounds.
void circulant_bcast(Builder& b, const Rotation& order, std::span<const Slice> blocks);

// --- two trees: half of the blocks through each
// ---------------------------------------------------
/// The blocks of a vector from position 0 to everyone, params.window rounds under way: at most
/// n - 1 + 2 (1 + log2 p) rounds.
void two_tree_bcast(Builder& b, const Rotation& order, std::span<const Slice> blocks,
                    RoundWindow::Credits credits = RoundWindow::Credits::no);

// --- direct: one round of p - 1 messages, (p - 1) / p of the vector, any p
// ------------------------
/// Receives a vector as long as `own` from each of the ranks before `ranks`, and adds them up from
/// left to right in rank order, `own` in this rank's place if it has one. Returns where the sum
/// lies. Scratch: the vectors.
Slice sum_of_received_from_left(Builder& b, Slice own, int ranks);

/// The same of all ranks' vectors, in pairs until a power of two is left, then neighbours, level by
/// level: as recursive doubling does.
Slice sum_of_received(Builder& b, Slice own);

/// Returns where the sum of block r lies on rank r, added up as by sum_of_received(). Scratch: p
/// blocks.
Slice direct_reduce_scatter(Builder& b, const Partition& input);

/// Rank r has block(r) at the start, everyone all of them at the end.
void direct_allgather(Builder& b, const std::function<Slice(int)>& block);

}  // namespace unisono
