// Blocking collectives within a node. All ranks of the team call the same one, with the same sizes,
// root and reduction. Lengths are in bytes, counts in elements; nothing happens when they are zero.
//
// Where MPI allows MPI_IN_PLACE, input may be the place that it stands for, and no other part of
// output: the whole (alltoall, reductions; the start of output for reduce_scatter) or this rank's
// block (allgather, gather's root; scatter's root: output is its block of input). In place, a
// reduction with blocks writes its result at the start of the buffer and leaves the rest as it is.
// Only the root of gather and reduce writes output, only the root of scatter reads input, rank 0 of
// exscan writes nothing.
//
//   in place         on which ranks
//   gather, scatter, reduce     the root, or none
//   alltoall, alltoallv         all or none (input is not output of another rank by chance, though
//                               in alltoallv one that sends or gets nothing may say so)
//   allgather, reductions       any: MPI lets the ranks of reduce_scatter, scan and exscan differ
//
// So no rank chooses its way by where its own buffers are.
//
// `way`: by which protocol, the same on all ranks, and one that can serve the call (unmet() in
// rule.h); else the rule chooses.
//
// Reductions combine neighbours in the order of ranks, whatever the size: they are right for
// operations that do not commute, and the same bits on all ranks and in every run. Scans go from
// left to right; all others in pairs, as recursive doubling does, which is what the MPI libraries
// take for MPI_Allreduce on a few ranks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>

#include "node/protocol.h"
#include "node/reduction.h"
#include "node/team.h"

namespace unisono::node {

/// A number for each rank: lengths of blocks, or where they begin.
using PerRank = std::span<const std::int64_t>;

/// What the receiver of a longer block than it has room for is told. The team goes on being of use.
struct Truncated : std::exception {
  const char* what() const noexcept override { return "a block was longer than its receiver says"; }
};

void barrier(Team& team, Protocol way = Protocol::rule);
void bcast(Team& team, std::byte* data, std::size_t bytes, int root, Protocol way = Protocol::rule);

/// `block` bytes from or to every rank.
void gather(Team& team, const std::byte* input, std::byte* output, std::size_t block, int root,
            Protocol way = Protocol::rule);
void scatter(Team& team, const std::byte* input, std::byte* output, std::size_t block, int root,
             Protocol way = Protocol::rule);
void allgather(Team& team, const std::byte* input, std::byte* output, std::size_t block,
               Protocol way = Protocol::rule);
void alltoall(Team& team, const std::byte* input, std::byte* output, std::size_t block,
              Protocol way = Protocol::rule);

/// Blocks of different lengths, zero among them. `counts` and `displs` are bytes; displs begin at
/// input or output and may be negative. Blocks that are written do not overlap.
///
/// allgatherv: every rank has the same counts and its own displs. gatherv, scatterv: counts and
/// displs are the root's, and may be empty elsewhere; `bytes` is this rank's count. alltoallv:
/// send_counts[j] on rank i is recv_counts[i] on rank j; in place, what is sent is laid out as what
/// is received.
///
/// A block may be shorter than its receiver expects: the rest of its place is left as it was. One
/// that is longer may be cut off or not be there at all: its receiver throws Truncated once the
/// call is complete on all ranks. A receiver that expects nothing does not look.
/// scatterv and alltoallv do not compare lengths where a slot has less than 16 bytes for each rank
/// (more than 256 ranks in the largest arena).
void allgatherv(Team& team, const std::byte* input, std::byte* output, PerRank counts,
                PerRank displs, Protocol way = Protocol::rule);
void gatherv(Team& team, const std::byte* input, std::size_t bytes, std::byte* output,
             PerRank counts, PerRank displs, int root, Protocol way = Protocol::rule);
void scatterv(Team& team, const std::byte* input, PerRank counts, PerRank displs, std::byte* output,
              std::size_t bytes, int root, Protocol way = Protocol::rule);
void alltoallv(Team& team, const std::byte* input, PerRank send_counts, PerRank send_displs,
               std::byte* output, PerRank recv_counts, PerRank recv_displs,
               Protocol way = Protocol::rule);

/// Whether elements of this size fit into the team's slots and into the reductions' own memory. A
/// fact that all ranks share, and the precondition of what follows.
bool can_reduce(const Team& team, std::size_t element_bytes);

void reduce(Team& team, const std::byte* input, std::byte* output, std::size_t count,
            const Reduction& reduction, int root, Protocol way = Protocol::rule);
void allreduce(Team& team, const std::byte* input, std::byte* output, std::size_t count,
               const Reduction& reduction, Protocol way = Protocol::rule);
/// `count` elements to every rank.
void reduce_scatter_block(Team& team, const std::byte* input, std::byte* output, std::size_t count,
                          const Reduction& reduction, Protocol way = Protocol::rule);
/// `counts[r]` elements to rank r, one block behind the other in input; the same on all ranks.
void reduce_scatter(Team& team, const std::byte* input, std::byte* output, PerRank counts,
                    const Reduction& reduction, Protocol way = Protocol::rule);
void scan(Team& team, const std::byte* input, std::byte* output, std::size_t count,
          const Reduction& reduction, Protocol way = Protocol::rule);
void exscan(Team& team, const std::byte* input, std::byte* output, std::size_t count,
            const Reduction& reduction, Protocol way = Protocol::rule);

}  // namespace unisono::node
