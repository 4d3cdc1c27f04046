// The fourth way for messages, without slots: the ranks show each other where their buffers are,
// and copy between them with one copy instead of two. A step before and one after, whatever the
// length: ranks that have no core each sleep twice at most.
//
// A copy may fail, though one worked when the team was made: the memory is a device's, or the
// process has changed its user. Its rank says so in the second step, and what it wanted goes
// through slots: where only the root waits in that step, through a relay between the two; where all
// wait, all do the call again without direct copies, now and from then on.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "node/copy.h"
#include "node/team.h"

namespace unisono::node {

/// Addresses in the process of the rank that shows them.
struct Buffers {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  /// Not set where others may not touch them: then nobody copies.
  bool usable = true;
  /// Bytes of the output that others may write. A rank whose call is wrong may think of more.
  std::size_t room = std::numeric_limits<std::size_t>::max();
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

/// This rank is through with the others' buffers, and tells them something. `waits`: until they are
/// through with its own. The step is still to be finished.
template <class Memory, class Told>
void be_through(BasicTeam<Memory>& team, Step step, bool waits, const Told& told) {
  static_assert(sizeof told <= kInline);
  team.note(Slots::kLongest);  // at least so long, else it would go through slots
  std::memcpy(team.claim(step), &told, sizeof told);
  team.publish_jointly(step);
  if (waits) team.await_all(step);
}
template <class Told, class Memory>
Told told_by(BasicTeam<Memory>& team, int rank, Step step) {
  Told told;
  std::memcpy(&told, team.payload(rank, step), sizeof told);
  return told;
}

/// What `rank`, one after the other, tells all: for who would else have to keep what it was told,
/// and no kernel takes memory. The others wait, and could not be told that there is none.
template <class Told, class Memory>
Told tell(BasicTeam<Memory>& team, int rank, const Told& mine) {
  const Step step = team.take(1);
  Told told = mine;
  if (team.rank() == rank) {
    std::memcpy(team.claim(step), &mine, sizeof mine);
    team.publish(step);
  } else {
    team.await(rank, step);
    told = told_by<Told>(team, rank, step);
  }
  team.finish(step);
  return told;
}

/// Everybody shows its buffers and copies while the others do: copy(shown), with shown(rank), says
/// how far it came; hear(told), with told(rank), is told that by all. False on all ranks when the
/// buffers of any are not usable: nothing has been copied. So what one rank alone knows, such as
/// where it was given MPI_IN_PLACE, decides nothing before all have seen it.
template <class Memory, class Copy, class Hear>
bool copy_directly(BasicTeam<Memory>& team, const Buffers& mine, Copy copy, Hear hear) {
  const Step step = team.take(1);
  show(team, step, mine);
  team.publish_jointly(step);
  team.await_all(step);
  bool usable = true;
  for (int rank = 0; rank < team.size(); ++rank) usable &= shown_by(team, rank, step).usable;
  if (!usable) {
    team.finish(step);
    return false;
  }
  auto copied = copy([&team, step](int rank) { return shown_by(team, rank, step); });
  team.finish(step);
  const Step last = team.take(1);
  be_through(team, last, true, copied);
  hear([&team, last](int rank) { return told_by<decltype(copied)>(team, rank, last); });
  team.finish(last);
  return true;
}

/// As that, where copy(shown) is true or has failed. False on all ranks: the call is to be made
/// again without direct copies, from input that is as it was.
template <class Memory, class Copy>
[[nodiscard]] bool copy_directly(BasicTeam<Memory>& team, const Buffers& mine, Copy copy) {
  bool all = true;
  const bool usable = copy_directly(team, mine, copy, [&](const auto& told) {
    for (int rank = 0; rank < team.size(); ++rank) all &= told(rank);
  });
  if (!all) team.forbid_direct();
  return usable && all;
}

/// `data` goes from one rank to another through the slots of the first, and the relay of `owner`.
/// Precondition: nobody uses those slots.
template <class Memory>
void give_through_relay(BasicTeam<Memory>& team, int owner, const std::byte* data,
                        std::size_t bytes) {
  const std::size_t most = team.window();
  for (std::size_t done = 0; done < bytes; done += most)
    team.give(owner, [&] {
      copy_bytes(team.slot(team.rank(), 0), data + done, std::min(most, bytes - done));
    });
}
template <class Memory>
void receive_through_relay(BasicTeam<Memory>& team, int owner, int from, std::byte* into,
                           std::size_t bytes) {
  const std::size_t most = team.window();
  for (std::size_t done = 0; done < bytes; done += most)
    team.receive(
        owner, [&] { copy_bytes(into + done, team.slot(from, 0), std::min(most, bytes - done)); });
}

/// The last step of a call in which the others copy to or from the root, which alone waits for
/// them. `left`: how much this rank could not copy, as relay(rank, left) counts it, which is called
/// on the root and on that rank; 0 if nothing.
template <class Memory, class Through>
void be_through_with_root(BasicTeam<Memory>& team, int root, std::size_t left, Through relay) {
  const Step step = team.take(1);
  const bool is_root = team.rank() == root;
  be_through(team, step, is_root, left);
  if (is_root) {
    for (int rank = 0; rank < team.size(); ++rank) {
      const std::size_t theirs = rank == root ? 0 : told_by<std::size_t>(team, rank, step);
      if (theirs > 0) relay(rank, theirs);
    }
  } else if (left > 0) {
    team.claim_slot({0, step});
    relay(team.rank(), left);
  }
  team.finish(step);
}

/// The root shows its buffers, and the others copy, copy(buffers of root): false if that failed,
/// and relay(rank) follows.
template <class Memory, class Copy, class Through>
void copy_with_root(BasicTeam<Memory>& team, int root, const Buffers& mine, Copy copy,
                    Through relay) {
  const Step step = team.take(1);
  if (team.rank() == root) {
    show(team, step, mine);
    team.publish(step);
  } else {
    team.await(root, step);
  }
  const bool copied = copy(shown_by(team, root, step));
  team.finish(step);
  be_through_with_root(team, root, copied ? 0 : 1, [&](int rank, std::size_t) { relay(rank); });
}

/// Between this rank's memory and that of `rank`, which may be itself. False: it cannot be reached,
/// and a part may have been copied.
[[nodiscard]] bool pull(Team& team, int rank, std::byte* to, const std::byte* from,
                        std::size_t bytes);
[[nodiscard]] bool push(Team& team, int rank, std::byte* to, const std::byte* from,
                        std::size_t bytes);
/// Into the output that `rank` has shown, from its byte `begin` on, and no further than its room.
[[nodiscard]] bool push(Team& team, int rank, const Buffers& theirs, std::size_t begin,
                        const std::byte* from, std::size_t bytes);

}  // namespace unisono::node
