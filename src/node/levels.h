// How short messages go in two levels: to the leader of a group, between the leaders, and to the
// group again. Nothing but calls of three small teams, one after the other: a line has the ranks of
// a group, or the leaders, as its readers, and no rank reads more lines than those are. Steps in
// sequence, so that few ranks are faster without. Where ranks sleep a gate does it in one sleep.
// Sources: Graham and Shipman 2008; XHC (Katevenis et al. 2022).
#pragma once
#include <cstddef>

#include "node/copy.h"
#include "node/pipeline.h"

namespace unisono::node {

/// Everybody's `bytes` bytes, in(where), come to the leaders, and from them to those leaders that
/// want them: all(where), with where(rank). copy(to, from) copies one message.
template <class Memory, class In, class Copy, class All>
void collect_in_levels(BasicLevels<Memory>& levels, std::size_t bytes, bool wants, In in, Copy copy,
                       All all) {
  const auto collect = [&](std::byte* bundle) {
    exchange(
        levels.group, Cut{bytes, kInline}, [&](Chunk, std::byte* where) { in(where); },
        [&](Chunk, const auto& posted) {
          if (bundle == nullptr) return;
          for (int place = 0; place < levels.group.size(); ++place)
            copy(bundle + at(place, bytes), posted.await(place));
        });
  };
  if (!levels.leaders) return collect(nullptr);
  const Groups& groups = levels.groups;
  exchange(
      *levels.leaders, Cut{at(groups.largest(), bytes), levels.leaders->slot_bytes()},
      [&](Chunk, std::byte* where) { collect(where); },
      [&](Chunk, const auto& posted) {
        if (!wants) return;
        for (int group = 0; group < groups.count(); ++group) posted.await(group);
        all([&](int rank) -> const std::byte* {
          return posted.of(groups.of(rank)) + at(groups.place_of(rank), bytes);
        });
      });
}

/// As that, for all leaders; what they make of it in all() goes to everybody: from put(where), and
/// out(where) for all but the leaders.
template <class Memory, class In, class Copy, class All, class Put, class Out>
void exchange_in_levels(BasicLevels<Memory>& levels, std::size_t bytes, In in, Copy copy, All all,
                        Put put, Out out) {
  const Step up = levels.group.take(0);  // the next
  collect_in_levels(levels, bytes, true, in, copy, all);
  post(
      levels.group, 0, Cut{kInline, kInline}, [&](Chunk, std::byte* where) { put(where); },
      [&](Chunk, const std::byte* where) { out(where); });
  levels.group.all_are_at(up);  // the leader has seen it
}

/// From root, in(where), to all others, out(where); leaders pass it on, in(where) too.
template <class Memory, class In, class Out>
void post_in_levels(BasicLevels<Memory>& levels, int root, In in, Out out) {
  const int home = levels.groups.of(root);
  const bool is_home = levels.index == home;
  const auto post_from = [&](BasicTeam<Memory>& team, int first) {
    post(
        team, first, Cut{kInline, kInline}, [&](Chunk, std::byte* where) { in(where); },
        [&](Chunk, const std::byte* where) { out(where); });
  };
  if (is_home) post_from(levels.group, levels.groups.place_of(root));
  if (levels.leaders) post_from(*levels.leaders, home);
  if (!is_home) post_from(levels.group, 0);
}

}  // namespace unisono::node
