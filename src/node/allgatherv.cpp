// Allgatherv: every rank knows all lengths.
#include "node/blocks.h"
#include "node/direct.h"

namespace unisono::node {

void allgatherv(Team& team, const std::byte* input, std::byte* output, PerRank counts,
                PerRank displs, Protocol way) {
  const std::size_t largest = largest_of(counts), mine = bytes_of(counts, team.rank());
  if (largest == 0) return;
  const auto copy_own = [&] { copy_out(output, displs, team.rank(), {0, mine}, input); };
  const auto pull_from = [&](int rank, const std::byte* from) {
    const std::size_t bytes = bytes_of(counts, rank);
    return bytes == 0 ||
           pull(team, rank, output + displs[static_cast<std::size_t>(rank)], from, bytes);
  };
  if (largest >= direct_from(team, way, team.direct_from().allgather) &&
      copy_directly(team, {input, output}, [&](const auto& shown) {
        copy_own();
        return all_others(team, [&](int rank) { return pull_from(rank, shown(rank).input); });
      }))
    return;
  copy_own();
  exchange(
      team, Cut{largest, team.slot_bytes()},
      [&](Chunk chunk, std::byte* where) {
        const Chunk part = clip(chunk, mine);
        team.put(where, input + part.begin, part.size);
      },
      [&](Chunk chunk, const auto& posted) {
        for_others(team, [&](int rank) {
          const Chunk part = clip(chunk, bytes_of(counts, rank));
          if (part.size > 0) copy_out(output, displs, rank, part, posted.await(rank));
        });
      });
}

}  // namespace unisono::node
