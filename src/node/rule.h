// Which protocol serves a call that names none: from the team's parameters (tuning.h), how its
// ranks wait, and sizes that all know; so all ranks choose alike. `direct`: single copies may be
// chosen.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

#include "node/probe.h"
#include "node/protocol.h"
#include "node/team.h"

namespace unisono::node {

Protocol barrier_rule(const Team& team);
Protocol bcast_rule(const Team& team, std::size_t bytes, bool direct);
Protocol gather_rule(const Team& team, std::size_t block, int root, bool direct);
Protocol scatter_rule(const Team& team, std::size_t block, bool direct);
Protocol allgather_rule(const Team& team, std::size_t block, bool direct);
Protocol alltoall_rule(const Team& team, std::size_t block, bool direct);
Protocol reduce_rule(const Team& team, std::size_t bytes, int root, bool direct);
Protocol allreduce_rule(const Team& team, std::size_t bytes, bool direct);
Protocol reduce_scatter_block_rule(const Team& team, std::size_t block, bool direct);
/// `part`: of a slot, what goes to one rank.
Protocol reduce_scatter_rule(const Team& team, std::size_t largest, std::size_t total,
                             std::size_t part, bool direct);
Protocol scan_rule(const Team& team, std::size_t bytes, bool direct);

/// What the protocol lacks to serve a message, or block, of so many bytes; the same on all ranks.
/// `root`: -1 where there is none.
std::optional<std::string_view> unmet(const Team& team, Protocol way, std::size_t bytes, int root);

/// The protocol itself, or the rule's where none is named or single copies have failed.
template <class Rule>
Protocol chosen(Team& team, Protocol way, Rule rule) {
  if (team.due() != Look::nothing) [[unlikely]]
    measure(team);
  if (way == Protocol::rule) return rule(true);
  return way == Protocol::direct && !team.has_direct() ? rule(false) : way;
}

/// From how many bytes on a block of many lengths goes directly; `by_rule` is the team's.
inline std::size_t direct_from(const Team& team, Protocol way, std::size_t by_rule) {
  if (way == Protocol::rule || !team.has_direct()) return by_rule;
  return way == Protocol::direct ? 1 : DirectFrom::kNever;
}

}  // namespace unisono::node
