// Blocking collectives within a node. All ranks of the team call the same one, with the same sizes,
// root and reduction. Lengths are in bytes, counts in elements; nothing happens when they are zero.
//
// Where MPI allows MPI_IN_PLACE, input may be the place that it stands for, and no other part of
// output: the whole (alltoall, reductions; the start of output for reduce_scatter_block) or this
// rank's block (allgather, gather's root; scatter's root: output is its block of input). Only the
// root of gather and reduce writes output, only the root of scatter reads input, rank 0 of exscan
// writes nothing. In alltoall and reduce_scatter_block all ranks are in place or none, as MPI
// demands.
//
// Reductions run left to right in the order of ranks, whatever the size: they are right for
// operations that do not commute, and the same bits on all ranks and in every run.
#pragma once
#include <cstddef>

#include "node/reduction.h"
#include "node/team.h"

namespace unisono::node {

void barrier(Team& team);
void bcast(Team& team, std::byte* data, std::size_t bytes, int root);

/// `block` bytes from or to every rank.
void gather(Team& team, const std::byte* input, std::byte* output, std::size_t block, int root);
void scatter(Team& team, const std::byte* input, std::byte* output, std::size_t block, int root);
void allgather(Team& team, const std::byte* input, std::byte* output, std::size_t block);
void alltoall(Team& team, const std::byte* input, std::byte* output, std::size_t block);

/// Whether elements of this size fit into the team's slots and into the reductions' own memory. A
/// fact that all ranks share, and the precondition of what follows.
bool can_reduce(const Team& team, std::size_t element_bytes);

void reduce(Team& team, const std::byte* input, std::byte* output, std::size_t count,
            const Reduction& reduction, int root);
void allreduce(Team& team, const std::byte* input, std::byte* output, std::size_t count,
               const Reduction& reduction);
/// `count` elements to every rank.
void reduce_scatter_block(Team& team, const std::byte* input, std::byte* output, std::size_t count,
                          const Reduction& reduction);
void scan(Team& team, const std::byte* input, std::byte* output, std::size_t count,
          const Reduction& reduction);
void exscan(Team& team, const std::byte* input, std::byte* output, std::size_t count,
            const Reduction& reduction);

}  // namespace unisono::node
