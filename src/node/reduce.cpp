// Reduce, allreduce and reduce_scatter_block.
#include <algorithm>
#include <cstddef>

#include "node/kernels.h"
#include "node/pipeline.h"
#include "node/reduce_blocks.h"

namespace unisono::node {

namespace {

// Up to so many bytes of the others' a rank reads all of them and reduces for itself: one step
// instead of two, which is worth more than the work that all ranks do again.
constexpr std::size_t kReadAll = 8 << 10;

/// The bytes of a chunk that rank `rank` of `size` reduces, whole elements.
Chunk slice(std::size_t bytes, std::size_t element_bytes, int rank, int size) {
  const std::size_t elements = bytes / element_bytes, p = static_cast<std::size_t>(size);
  const auto border = [&](std::size_t r) { return elements * r / p * element_bytes; };
  const std::size_t begin = border(static_cast<std::size_t>(rank));
  return {begin, border(static_cast<std::size_t>(rank) + 1) - begin};
}

void read_all(Team& team, const std::byte* input, std::byte* output, std::size_t bytes,
              const Reduction& reduction, bool wants) {
  exchange(
      team, Cut{bytes, team.slot_bytes()},
      [&](Chunk, std::byte* where) { copy_bytes(where, input, bytes); },
      [&](Chunk, const auto& posted) {
        // Own input is read from where it was posted: output may be on top of it.
        if (wants)
          fold(reduction, output, bytes / reduction.element_bytes, team.size(),
               [&](int rank) { return posted.await(rank); });
      });
}

}  // namespace

// Every rank reduces one slice of each chunk. What it reduces itself it does not post; the result
// goes where that would have been. Per rank and byte of the message: (p-1)/p copied in, p/p read
// and 1/p written, (p-1)/p copied out. Source: 7.3 of our notes (direct slice reduction).
void reduce_slices(Team& team, const std::byte* input, std::byte* output, std::size_t bytes,
                   const Reduction& reduction, const Chunk& wanted) {
  const int me = team.rank(), size = team.size();
  const auto common = [&wanted](std::size_t begin, std::size_t length) -> Chunk {
    const std::size_t first = std::max(begin, wanted.begin);
    const std::size_t end = std::min(begin + length, wanted.begin + wanted.size);
    return {first, first < end ? end - first : 0};
  };
  const auto slice_of = [&](Chunk chunk, int rank) {
    return slice(chunk.size, reduction.element_bytes, rank, size);
  };
  exchange_twice(
      team, Cut{bytes, reduction.whole(team.slot_bytes())},
      [&](Chunk chunk, std::byte* where) {
        const Chunk mine = slice_of(chunk, me);
        const std::size_t behind = mine.begin + mine.size;
        const std::byte* from = input + chunk.begin;
        copy_bytes(where, from, mine.begin);
        copy_bytes(where + behind, from + behind, chunk.size - behind);
      },
      [&](Chunk chunk, const auto& posted) {
        const Chunk mine = slice_of(chunk, me);
        const std::size_t at = chunk.begin + mine.begin;
        std::byte* result = posted.of(me) + mine.begin;
        fold(reduction, result, mine.size / reduction.element_bytes, size,
             [&](int rank) { return rank == me ? input + at : posted.await(rank) + mine.begin; });
        const Chunk part = common(at, mine.size);
        if (part.size > 0)
          copy_bytes(output + (part.begin - wanted.begin), result + (part.begin - at), part.size);
      },
      [&](Chunk chunk, const auto& posted) {
        if (wanted.size == 0) return;
        for_others(team, [&](int rank) {
          const Chunk theirs = slice_of(chunk, rank);
          const Chunk part = common(chunk.begin + theirs.begin, theirs.size);
          if (part.size > 0)
            copy_bytes(output + (part.begin - wanted.begin),
                       posted.await(rank) + (part.begin - chunk.begin), part.size);
        });
      });
}

namespace {

void reduce_to(Team& team, const std::byte* input, std::byte* output, std::size_t count,
               const Reduction& reduction, bool wants) {
  const std::size_t bytes = count * reduction.element_bytes;
  if (bytes == 0) return;
  const std::size_t others = static_cast<std::size_t>(team.size() - 1);
  const bool is_short = bytes <= team.slot_bytes() && bytes * others <= kReadAll;
  if (is_short || bytes <= kInline)
    read_all(team, input, output, bytes, reduction, wants);
  else
    reduce_slices(team, input, output, bytes, reduction, {0, wants ? bytes : 0});
}

}  // namespace

bool can_reduce(const Team& team, std::size_t element_bytes) {
  return element_bytes > 0 && element_bytes <= kLargestElement &&
         element_bytes * static_cast<std::size_t>(team.size()) <= team.slot_bytes();
}

void reduce(Team& team, const std::byte* input, std::byte* output, std::size_t count,
            const Reduction& reduction, int root) {
  reduce_to(team, input, output, count, reduction, team.rank() == root);
}

void allreduce(Team& team, const std::byte* input, std::byte* output, std::size_t count,
               const Reduction& reduction) {
  reduce_to(team, input, output, count, reduction, true);
}

// Equal blocks are a case of any.
void reduce_scatter_block(Team& team, const std::byte* input, std::byte* output, std::size_t count,
                          const Reduction& reduction) {
  const std::size_t block = count * reduction.element_bytes;
  reduce_blocks(
      team, input, output, block, [block](int) { return block; }, reduction);
}

}  // namespace unisono::node
