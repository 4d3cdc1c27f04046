// Scatterv: lengths that a rank and the root know.
#include <algorithm>

#include "node/packet.h"

namespace unisono::node {

void scatterv(Team& team, const std::byte* input, PerRank counts, PerRank displs, std::byte* output,
              std::size_t bytes, int root, Protocol way) {
  const bool is_root = team.rank() == root;
  const PacketForm form(team);
  Progress progress;
  std::size_t left = 0;
  bool truncated = false;
  if (is_root)
    progress = Packet::progress_of(form, root, counts,
                                   direct_from(team, way, team.direct_from().scatter), true);
  const auto rounds = [&progress] {
    return static_cast<std::size_t>(std::max(1, progress.chunks));
  };
  post_rounds(
      team, root,
      [&](std::size_t round, const auto& posted) {
        progress.chunk = static_cast<std::int32_t>(round);
        Packet(form, posted, root).write(team, progress, input, counts, displs);
        return rounds();
      },
      [&](std::size_t, const auto& posted) {
        const Packet packet(form, posted, root);
        progress = packet.progress();
        const Packet::Taken taken = packet.read(team, output, bytes);
        if (!taken.copied) left = std::min(taken.block, bytes);
        truncated |= taken.block > bytes;
        return rounds();
      });
  if (is_root && output != input + displs[static_cast<std::size_t>(root)]) {
    const std::size_t own = std::min(bytes, bytes_of(counts, root));
    if (own > 0) copy_bytes(output, input + displs[static_cast<std::size_t>(root)], own);
    truncated = bytes_of(counts, root) > bytes;
  }
  if (progress.has_addresses())
    be_through_with_root(team, root, left, [&](int rank, std::size_t their_left) {
      if (!is_root) return receive_through_relay(team, rank, root, output, their_left);
      give_through_relay(team, rank, input + displs[static_cast<std::size_t>(rank)], their_left);
    });
  if (truncated) throw Truncated();
}

}  // namespace unisono::node
