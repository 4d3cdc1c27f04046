// The pages of a team's rings. A rank allocates its own when the team is about to use them, so that
// a team whose messages go in cells takes none.
#pragma once
#include <cstddef>

#include "node/team.h"

namespace unisono::node {

/// Whether every rank has so many bytes of its ring, or all of it where that is shorter; allocates
/// them. In a call of all ranks, while none of them uses slots. The same on all ranks: false where
/// one of them has no memory, or had none before.
[[gnu::cold]] bool make_room(Team& team, std::size_t bytes);

}  // namespace unisono::node
