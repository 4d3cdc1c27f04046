// The fourth way for messages, without slots: the ranks show each other where their buffers are,
// and copy between them with one copy instead of two. A step before and one after, whatever the
// length: ranks that have no core each sleep twice at most.
#pragma once
#include <cstddef>
#include <cstring>

#include "node/team.h"

namespace unisono::node {

/// Addresses in the process of the rank that shows them.
struct Buffers {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  /// Not set where others may not touch them: then nobody copies.
  bool usable = true;
};

template <class Memory>
void show(BasicTeam<Memory>& team, Step step, const Buffers& mine) {
  std::memcpy(team.claim(step), &mine, sizeof mine);
}
template <class Memory>
Buffers shown_by(BasicTeam<Memory>& team, int rank, Step step) {
  Buffers theirs;
  std::memcpy(&theirs, team.payload(rank, step), sizeof theirs);
  return theirs;
}

/// This rank is through with the others' buffers. `waits`: and so are they with its own.
template <class Memory>
void be_through(BasicTeam<Memory>& team, Step step, bool waits) {
  team.claim(step);
  team.publish_jointly(step);
  if (waits) team.await_all(step);
  team.finish(step);
}

/// Everybody shows its buffers and copies, copy(shown) with shown(rank), while the others do. False
/// on all ranks when those of any are not usable: nothing has been copied. So what one rank alone
/// knows, such as where it was given MPI_IN_PLACE, decides nothing before all have seen it.
template <class Memory, class Copy>
bool copy_directly(BasicTeam<Memory>& team, const Buffers& mine, Copy copy) {
  const Step step = team.take(1);
  show(team, step, mine);
  team.publish_jointly(step);
  team.await_all(step);
  bool usable = true;
  for (int rank = 0; rank < team.size(); ++rank) usable &= shown_by(team, rank, step).usable;
  if (usable) copy([&team, step](int rank) { return shown_by(team, rank, step); });
  team.finish(step);
  if (usable) be_through(team, team.take(1), true);
  return usable;
}

/// The root shows its buffers, and alone waits until all are through, copy(buffers of root).
template <class Memory, class Copy>
void copy_with_root(BasicTeam<Memory>& team, int root, const Buffers& mine, Copy copy) {
  const Step step = team.take(2);
  const bool is_root = team.rank() == root;
  if (is_root) {
    show(team, step, mine);
    team.publish(step);
  } else {
    team.await(root, step);
  }
  copy(shown_by(team, root, step));
  team.finish(step);
  be_through(team, step + 1, is_root);
}

/// Between this rank's memory and that of `rank`, which may be itself. A rank that cannot be
/// reached any more, though it could when the team was made, ends the process with a line: there is
/// no way to take back what the others do.
void pull(const Team& team, int rank, std::byte* to, const std::byte* from, std::size_t bytes);
void push(const Team& team, int rank, std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace unisono::node
