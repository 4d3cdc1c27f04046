// Reduce_scatter and reduce_scatter_block.
#include <algorithm>

#include "node/blocks.h"
#include "node/reduce_ways.h"

namespace unisono::node {

namespace {

/// Of a slot, the part in which a block goes to its rank.
inline std::size_t part_of_slot(const Team& team, const Reduction& reduction) {
  return reduction.whole(team.slot_bytes() / static_cast<std::size_t>(team.size()));
}

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
            team.put(where + at(rank, cut.stride()), input + displ + theirs.begin, theirs.size);
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

/// Every rank's block is `largest` bytes at most; `mine` is where this rank's lies in the input.
template <class BytesOf, class Rule>
void reduce_scatter_by(Team& team, const std::byte* input, std::byte* output, std::size_t largest,
                       std::size_t total, Chunk mine, BytesOf bytes_of, const Reduction& reduction,
                       Protocol way, Rule rule) {
  // Ranks may differ in MPI_IN_PLACE: only what they know of each other's may choose the way.
  if (way == Protocol::direct) {
    if (reduce_block_directly(team, input, output, mine, reduction)) return;
    way = rule(false);
  }
  if (way == Protocol::slices)
    reduce_slices(team, input, output, total, reduction, mine);
  else
    reduce_blocks(team, input, output, largest, bytes_of, reduction);
}

}  // namespace

void reduce_scatter(Team& team, const std::byte* input, std::byte* output, PerRank counts,
                    const Reduction& reduction, Protocol way) {
  const auto block_of = [&](int rank) { return bytes_of(counts, rank) * reduction.element_bytes; };
  std::size_t largest = 0, total = 0;
  Chunk mine;
  for (int rank = 0; rank < team.size(); ++rank) {
    if (rank == team.rank()) mine = {total, block_of(rank)};
    largest = std::max(largest, block_of(rank));
    total += block_of(rank);
  }
  if (total == 0) return;
  const auto rule = [&](bool direct) {
    return reduce_scatter_rule(team, largest, total, part_of_slot(team, reduction), direct);
  };
  reduce_scatter_by(team, input, output, largest, total, mine, block_of, reduction,
                    chosen(team, way, rule), rule);
}

void reduce_scatter_block(Team& team, const std::byte* input, std::byte* output, std::size_t count,
                          const Reduction& reduction, Protocol way) {
  const std::size_t block = count * reduction.element_bytes;
  if (block == 0) return;
  const auto block_of = [block](int) { return block; };
  const auto rule = [&](bool direct) { return reduce_scatter_block_rule(team, block, direct); };
  reduce_scatter_by(team, input, output, block, at(team.size(), block),
                    {at(team.rank(), block), block}, block_of, reduction, chosen(team, way, rule),
                    rule);
}

}  // namespace unisono::node
