// The two ways of reduce-scatter.
#pragma once
#include <cstddef>

#include "node/copy.h"
#include "node/pipeline.h"
#include "node/reduction.h"

namespace unisono::node {

/// `wanted`: what this rank wants of the result, at the start of output; nothing, or any part. In
/// place, output is written no further than input has been posted.
void reduce_slices(Team& team, const std::byte* input, std::byte* output, std::size_t bytes,
                   const Reduction& reduction, const Chunk& wanted);

/// Of a slot, the part in which a block goes to its rank.
inline std::size_t part_of_slot(const Team& team, const Reduction& reduction) {
  return reduction.whole(team.slot_bytes() / static_cast<std::size_t>(team.size()));
}

/// This rank's block is `mine` of everybody's input. False on all ranks, and nothing is done, when
/// any is in place: its output lies on top of what others read.
bool reduce_block_directly(Team& team, const std::byte* input, std::byte* output, Chunk mine,
                           const Reduction& reduction);

/// bytes_of(rank): each rank's block, `largest` at most.
///
/// Every rank posts what is the others', and reduces its own block as the others' come: (p-1) m
/// copied in, p m read. In place, output is written no further than every block has been posted,
/// the own one included.
template <class BytesOf>
void reduce_blocks(Team& team, const std::byte* input, std::byte* output, std::size_t largest,
                   BytesOf bytes_of, const Reduction& reduction) {
  if (largest == 0) return;
  const int me = team.rank(), size = team.size();
  const std::size_t mine = bytes_of(me);
  std::size_t begin = 0;
  for (int rank = 0; rank < me; ++rank) begin += bytes_of(rank);
  // Ranks may differ in MPI_IN_PLACE: only what they know of each other's may choose the way.
  if (largest >= team.direct_from().reduce_scatter_block &&
      reduce_block_directly(team, input, output, {begin, mine}, reduction))
    return;
  const Cut cut{largest, part_of_slot(team, reduction), size};
  // A result on top of input that a later operand of it is made from.
  const bool overlaps = input == output && me > 0 && begin < cut.stride();
  exchange(
      team, cut,
      [&](Chunk chunk, std::byte* where) {
        std::size_t displ = 0;
        for (int rank = 0; rank < size; ++rank) {
          const Chunk theirs = clip(chunk, bytes_of(rank));
          if (rank != me || overlaps)
            copy_bytes(where + at(rank, cut.stride()), input + displ + theirs.begin, theirs.size);
          displ += bytes_of(rank);
        }
      },
      [&](Chunk chunk, const auto& posted) {
        const Chunk result = clip(chunk, mine);
        if (result.size == 0) return;
        fold(reduction, output + result.begin, reduction.elements(result.size), size,
             [&](int rank) {
               return rank == me && !overlaps ? input + begin + result.begin
                                              : posted.await(rank) + at(me, cut.stride());
             });
      });
}

}  // namespace unisono::node
