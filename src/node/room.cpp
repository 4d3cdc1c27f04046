#include "node/room.h"

#include <algorithm>

#include "node/pages.h"
#include "node/pipeline.h"

namespace unisono::node {

bool make_room(Team& team, std::size_t bytes) {
  bytes = std::min(bytes, team.ring_bytes());
  if (bytes <= team.room()) return true;
  if (!team.may_have_room()) return false;
  const bool mine = allocate({team.slot(team.rank(), 0), bytes});
  bool all = true;
  exchange(
      team, Cut{1, 1}, [&](Chunk, std::byte* where) { *where = std::byte{mine}; },
      [&](Chunk, const auto& posted) {
        for (int rank = 0; rank < team.size(); ++rank) all &= *posted.await(rank) != std::byte{0};
      });
  if (all)
    team.set_room(bytes);
  else
    team.refuse_room();
  return all;
}

}  // namespace unisono::node
