// How messages go through a team's cells and slots. All ranks call them alike.
//
// A message of at most kInline bytes goes in the cell: one line from writer to reader. A longer one
// goes in chunks through the ring of slots, and a rank does its part of a chunk while the others do
// theirs of the next: whoever waits, waits for what was published a chunk ago.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>

#include "node/team.h"

namespace unisono::node {

struct Chunk {
  std::size_t begin = 0, size = 0;
};

/// A message of `parts` parts of `total` bytes, cut so that `each` bytes of every part are a chunk.
struct Cut {
  std::size_t total = 0;
  std::size_t each = 1;
  int parts = 1;

  std::size_t chunks() const { return (total + each - 1) / each; }
  Chunk chunk(std::size_t i) const { return {i * each, std::min(each, total - i * each)}; }
  /// From part to part of a chunk.
  std::size_t stride() const { return std::min(total, each); }
  /// All parts of a chunk.
  std::size_t slot_bytes(std::size_t i) const {
    return static_cast<std::size_t>(parts - 1) * stride() + chunk(i).size;
  }
  bool is_inline() const {
    return total <= std::min(each, kInline) && total * static_cast<std::size_t>(parts) <= kInline;
  }
};

/// What a block of `bytes` bytes has in the chunk.
inline Chunk clip(const Chunk& chunk, std::size_t bytes) {
  const std::size_t begin = std::min(chunk.begin, bytes);
  return {begin, std::min(chunk.size, bytes - begin)};
}

/// In place of a root.
inline constexpr int kEverybody = -1;

/// Where the part of `rank` begins, of parts `stride` apart.
inline std::size_t at(int rank, std::size_t stride) {
  return static_cast<std::size_t>(rank) * stride;
}

/// Of `bytes` bytes the part from `first` up to `last` of `of` equal shares, in whole elements.
inline Chunk slice(std::size_t bytes, std::size_t element_bytes, int first, int last, int of) {
  const auto border = [&](int share) {
    return bytes / element_bytes * static_cast<std::size_t>(share) / static_cast<std::size_t>(of) *
           element_bytes;
  };
  return {border(first), border(last) - border(first)};
}

/// The other ranks, each rank's from its own successor on: so that not all read from one at once.
template <class Memory, class Do>
void for_others(const BasicTeam<Memory>& team, Do with) {
  for (int rank = team.rank() + 1; rank < team.size(); ++rank) with(rank);
  for (int rank = 0; rank < team.rank(); ++rank) with(rank);
}

/// The same until one says no: false then.
template <class Memory, class Do>
bool all_others(const BasicTeam<Memory>& team, Do with) {
  for (int rank = team.rank() + 1; rank < team.size(); ++rank)
    if (!with(rank)) return false;
  for (int rank = 0; rank < team.rank(); ++rank)
    if (!with(rank)) return false;
  return true;
}

/// What the ranks published in one step.
template <class Memory>
class Posted {
 public:
  Posted(BasicTeam<Memory>& team, Step step) : team_(team), step_(step) {}
  Posted(BasicTeam<Memory>& team, Step step, const SlotUse& use)
      : team_(team), step_(step), slot_(use.offset), inline_(false) {}

  /// Where `rank` writes.
  std::byte* of(int rank) const {
    return inline_ ? team_.payload(rank, step_) : team_.slot(rank, slot_);
  }
  bool is_inline() const { return inline_; }
  /// Beside the number of the step: free for the kernel where messages go through slots.
  std::byte* cell_of(int rank) const { return team_.payload(rank, step_); }
  /// Of a joint step; once for each rank.
  const std::byte* await(int rank) const {
    if (rank == team_.rank()) return of(rank);
    team_.await_joint(rank, step_);
    ++awaited_;
    return of(rank);
  }
  /// Whoever has published this step is at `position`. When all have, nobody needs to look at their
  /// positions then, which spares each rank a line in eight short calls.
  void note_positions(Step position) const {
    if (awaited_ == team_.size() - 1) team_.all_are_at(position);
  }

 private:
  BasicTeam<Memory>& team_;
  Step step_;
  std::size_t slot_ = 0;
  bool inline_ = true;
  mutable int awaited_ = 0;
};

/// `root` writes, in(posted); the others read, out(posted).
template <class Memory, class In, class Out>
void post_step(BasicTeam<Memory>& team, int root, Step step, const SlotUse& use,
               const Posted<Memory>& posted, In in, Out out) {
  if (team.rank() == root) {
    team.claim(step);
    team.claim_slot(use);
    in(posted);
    if (!posted.is_inline()) team.settle();
    team.publish(step);
  } else {
    team.await(root, step);
    out(posted);
  }
  team.finish(step);
}

/// `root` writes, in(chunk, where); the others read, out(chunk, where).
template <class Memory, class In, class Out>
void post(BasicTeam<Memory>& team, int root, const Cut& cut, In in, Out out) {
  const std::size_t chunks = cut.chunks();
  const Step first = team.take(chunks);
  for (std::size_t i = 0; i < chunks; ++i) {
    const Step step = first + i;
    const SlotUse use = cut.is_inline() ? SlotUse{} : team.take_slot(cut.slot_bytes(i), step);
    post_step(
        team, root, step, use, cut.is_inline() ? Posted(team, step) : Posted(team, step, use),
        [&](const auto& posted) { in(cut.chunk(i), posted.of(root)); },
        [&](const auto& posted) {
          out(cut.chunk(i), static_cast<const std::byte*>(posted.of(root)));
        });
  }
}

/// As post, in rounds, when only the root knows at first how many: in(round, posted) and out(round,
/// posted) return it.
template <class Memory, class In, class Out>
void post_rounds(BasicTeam<Memory>& team, int root, In in, Out out) {
  std::size_t rounds = 1;
  for (std::size_t i = 0; i < rounds; ++i) {
    const Step step = team.take(1);
    // The first may be almost empty: only what comes before another one is long.
    const SlotUse use = i == 0 ? team.take_unnoted(team.slot_bytes(), step)
                               : team.take_slot(team.slot_bytes(), step);
    post_step(
        team, root, step, use, Posted(team, step, use),
        [&](const auto& posted) { rounds = in(i, posted); },
        [&](const auto& posted) { rounds = out(i, posted); });
  }
}

/// In each round everybody writes up to length(round) bytes, in(round, posted), and reads from
/// everybody, out(round, posted); the next round is written before. How many rounds there are need
/// not be known at first: agree(posted) says so, having waited for what it must see of the first.
template <class Memory, class Length, class In, class Agree, class Out>
void exchange_rounds(BasicTeam<Memory>& team, Length length, In in, Agree agree, Out out) {
  std::size_t rounds = 1;
  Step step = 0;
  SlotUse use;
  for (std::size_t i = 0; i <= rounds; ++i) {
    const Step before = step;
    const SlotUse use_before = use;
    if (i < rounds) {
      step = team.take(1);
      use = i == 0 ? team.take_unnoted(length(i), step) : team.take_slot(length(i), step);
      team.claim(step);
      team.claim_slot(use);
      in(i, Posted(team, step, use));
      team.settle();
      team.publish_jointly(step);
    }
    if (i == 0) {
      const Posted posted(team, step, use);
      rounds = agree(posted);
      posted.note_positions(step);
      continue;
    }
    const Posted posted(team, before, use_before);
    out(i - 1, posted);
    // Who publishes a round, the first excepted, has not yet finished the one before it.
    posted.note_positions(i == 1 ? before : before - 1);
    team.finish(before);
  }
}

/// A message of one chunk through the slots: without the bookkeeping of rounds, which takes as long
/// as a short message.
template <class Memory, class In, class Out>
void exchange_once(BasicTeam<Memory>& team, const Cut& cut, In in, Out out) {
  const Chunk all{0, cut.total};
  const Step step = team.take(1);
  const SlotUse use = team.take_slot(at(cut.parts, cut.total), step);
  const Posted posted(team, step, use);
  team.claim(step);
  team.claim_slot(use);
  in(all, posted.of(team.rank()));
  team.settle();
  team.publish_jointly(step);
  out(all, posted);
  posted.note_positions(step);
  team.finish(step);
}

/// Everybody writes, in(chunk, where), and reads from everybody, out(chunk, posted).
template <class Memory, class In, class Out>
void exchange(BasicTeam<Memory>& team, const Cut& cut, In in, Out out) {
  if (cut.is_inline()) {
    const Step step = team.take(1);
    in(cut.chunk(0), team.claim(step));
    team.publish_jointly(step);
    const Posted posted(team, step);
    out(cut.chunk(0), posted);
    posted.note_positions(step);
    team.finish(step);
    return;
  }
  if (cut.total <= cut.each) return exchange_once(team, cut, in, out);
  team.note(cut.slot_bytes(0));
  exchange_rounds(
      team, [&](std::size_t i) { return cut.slot_bytes(i); },
      [&](std::size_t i, const auto& posted) { in(cut.chunk(i), posted.of(team.rank())); },
      [&](const auto&) { return cut.chunks(); },
      [&](std::size_t i, const auto& posted) { out(cut.chunk(i), posted); });
}

/// One chunk, where ranks sleep: everybody writes, in(where); the last to come makes of that what
/// all want, in the place of rank 0, combine(posted), before it wakes them; everybody reads,
/// out(where). A rank sleeps once, and what one can do for all is not done by each.
template <class Memory, class In, class Combine, class Out>
void combine_last(BasicTeam<Memory>& team, const Cut& cut, In in, Combine combine, Out out) {
  const Step step = team.take(1);
  const SlotUse use = cut.is_inline() ? SlotUse{} : team.take_slot(cut.slot_bytes(0), step);
  const Posted posted = cut.is_inline() ? Posted(team, step) : Posted(team, step, use);
  team.claim(step);
  team.claim_slot(use);
  in(posted.of(team.rank()));
  team.settle();
  if (team.arrive(step)) {
    team.compare_all(step);
    combine(posted);
    team.settle();
    team.open(step);
  }
  team.meet_all(step);
  team.compare(0, step);
  out(static_cast<const std::byte*>(posted.of(0)));
  team.finish(step);
}

/// As exchange, with a step between that reads what everybody wrote and writes once more into its
/// own slot, middle(chunk, posted). A slot is busy for three rounds.
template <class Memory, class In, class Middle, class Out>
void exchange_twice(BasicTeam<Memory>& team, const Cut& cut, In in, Middle middle, Out out) {
  constexpr Step kSteps = 2;  // of a round: one publishes what came in, one what middle made
  constexpr std::size_t kRounds = 3;
  const std::size_t chunks = cut.chunks();
  const Step first = team.take(kSteps * (chunks + kRounds - 1));
  std::array<SlotUse, kRounds> uses;
  const auto use_of = [&uses](std::size_t chunk) { return uses[chunk % kRounds]; };
  for (std::size_t i = 0; i < chunks + kRounds - 1; ++i) {
    const Step came = first + kSteps * i, made = came + 1;
    if (i < chunks) {
      const SlotUse use = uses[i % kRounds] =
          team.take_slot(cut.slot_bytes(i), made + kSteps * (kRounds - 1));
      team.claim(came);
      team.claim_slot(use);
      in(cut.chunk(i), team.slot(team.rank(), use.offset));
      team.settle();
      team.publish_jointly(came);
    }
    if (i >= 1 && i <= chunks) {
      team.claim(made);
      middle(cut.chunk(i - 1), Posted(team, came - kSteps, use_of(i - 1)));
      team.settle();
      team.publish_jointly(made);
    }
    if (i >= 2) out(cut.chunk(i - 2), Posted(team, made - kSteps, use_of(i - 2)));
    team.finish(made);
  }
}

}  // namespace unisono::node
