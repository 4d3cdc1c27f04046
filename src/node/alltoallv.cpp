// Alltoallv, of which alltoallw is a case: lengths that two ranks know.
#include <algorithm>

#include "node/packet.h"

namespace unisono::node {

// Every rank's blocks take as many chunks as they need, which is in its cell. In place, where a
// block may be overwritten only as far as it has been posted, all take as many as the slowest;
// nobody knows before the second round how many that is.
void alltoallv(Team& team, const std::byte* input, PerRank send_counts, PerRank send_displs,
               std::byte* output, PerRank recv_counts, PerRank recv_displs, Protocol way) {
  const int me = team.rank();
  const bool in_place = input == output;
  const PacketForm form(team);
  Progress mine = Packet::progress_of(
      form, me, send_counts,
      in_place ? DirectFrom::kNever : direct_from(team, way, team.direct_from().alltoall),
      !in_place);
  if (in_place) mine.chunk = -1;
  bool directly = false, copied = true;
  const std::size_t sent = bytes_of(send_counts, me), room = bytes_of(recv_counts, me);
  bool truncated = sent > room;
  const Chunk own = clip({0, sent}, room);
  if (own.size > 0 && !in_place)
    copy_out(output, recv_displs, me, own, input + send_displs[static_cast<std::size_t>(me)]);
  exchange_rounds(
      team, [&](std::size_t) { return team.slot_bytes(); },
      [&](std::size_t, const auto& posted) {
        Packet(form, posted, me).write(team, mine, input, send_counts, send_displs);
        ++mine.chunk;
      },
      [&](const auto& posted) {
        std::int32_t rounds = 1;
        for (int rank = 0; rank < team.size(); ++rank) {
          posted.await(rank);
          const Progress theirs = Packet(form, posted, rank).progress();
          rounds = std::max(rounds, theirs.chunks - theirs.chunk);
          directly |= theirs.has_addresses();
        }
        if (in_place) mine.chunks = rounds - 1;
        return static_cast<std::size_t>(rounds);
      },
      [&](std::size_t, const auto& posted) {
        for_others(team, [&](int rank) {
          const std::size_t block = bytes_of(recv_counts, rank);
          if (block == 0) return;
          posted.await(rank);
          const Packet packet(form, posted, rank);
          const Packet::Taken taken =
              packet.read(team, output + recv_displs[static_cast<std::size_t>(rank)], block);
          copied &= taken.copied;
          truncated |= taken.block > block;
        });
      });
  if (directly) {
    const Step step = team.take(1);
    be_through(team, step, true, copied);
    for (int rank = 0; rank < team.size(); ++rank) copied &= told_by<bool>(team, rank, step);
    team.finish(step);
  }
  if (copied) {
    if (truncated) throw Truncated();
    return;
  }
  // Nobody is in place, for then nothing goes directly: what was sent is still there.
  team.forbid_direct();
  alltoallv(team, input, send_counts, send_displs, output, recv_counts, recv_displs);
}

}  // namespace unisono::node
