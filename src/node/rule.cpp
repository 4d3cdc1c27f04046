#include "node/rule.h"

#include "node/pipeline.h"

namespace unisono::node {

namespace {

using enum Protocol;

/// Can messages of so many bytes, of which every rank has one, go in levels? Where ranks sleep a
/// gate does it in one sleep.
bool may_go_in_levels(const Team& team, std::size_t bytes) {
  return team.levels() != nullptr && team.mode() != WaitMode::sleep && bytes <= kInline;
}

/// Are they worth it on the way to a root? Eight of 32 bytes are four lines, and the cell of their
/// leader one: five in place of eight, which is worth the step before. The root must lead its
/// group, as rank 0 does.
bool are_worth_bundles(const Team& team, std::size_t bytes, int root) {
  constexpr std::size_t kMost = 32;
  return bytes <= kMost && may_go_in_levels(team, bytes) && team.levels()->groups.leads(root);
}

Protocol by_length(std::size_t bytes, std::size_t direct_from, bool direct) {
  return direct && bytes >= direct_from ? Protocol::direct : pipeline;
}

std::size_t of_others(const Team& team, std::size_t bytes) {
  return bytes * static_cast<std::size_t>(team.size() - 1);
}

}  // namespace

Protocol barrier_rule(const Team& team) { return may_go_in_levels(team, 0) ? levels : flags; }

Protocol bcast_rule(const Team& team, std::size_t bytes, bool direct) {
  const Protocol way = by_length(bytes, team.direct_from().bcast, direct);
  return way == pipeline && may_go_in_levels(team, bytes) ? levels : way;
}

Protocol gather_rule(const Team& team, std::size_t block, int root, bool direct) {
  if (are_worth_bundles(team, block, root)) return levels;
  return by_length(block, team.direct_from().gather, direct);
}

Protocol scatter_rule(const Team& team, std::size_t block, bool direct) {
  return by_length(block, team.direct_from().scatter, direct);
}

Protocol allgather_rule(const Team& team, std::size_t block, bool direct) {
  return by_length(block, team.direct_from().allgather, direct);
}

Protocol alltoall_rule(const Team& team, std::size_t block, bool direct) {
  return by_length(block, team.direct_from().alltoall, direct);
}

Protocol reduce_rule(const Team& team, std::size_t bytes, int root, bool direct) {
  if (direct && bytes >= team.direct_from().reduce) return Protocol::direct;
  if (are_worth_bundles(team, bytes, root)) return levels;
  const bool is_short = of_others(team, bytes) <= team.read_all_up_to().root || bytes <= kInline;
  return is_short ? read_all : slices;
}

Protocol allreduce_rule(const Team& team, std::size_t bytes, bool direct) {
  const ReadAll& read = team.read_all_up_to();
  if (direct && bytes >= team.direct_from().allreduce) return Protocol::direct;
  if (team.mode() == WaitMode::sleep && of_others(team, bytes) <= read.last &&
      bytes <= team.slot_bytes())
    return last_arriver;
  if (may_go_in_levels(team, bytes)) return levels;
  return of_others(team, bytes) <= read.everybody || bytes <= kInline ? read_all : slices;
}

Protocol reduce_scatter_block_rule(const Team& team, std::size_t block, bool direct) {
  return direct && block >= team.direct_from().reduce_scatter_block ? Protocol::direct : blocks;
}

// Where one block is far longer than the others, it would go through a p-th part of the slots, and
// its rank would reduce alone. In slices all ranks work on all blocks, in two steps for each slot
// full of them.
Protocol reduce_scatter_rule(const Team& team, std::size_t largest, std::size_t total,
                             std::size_t part, bool direct) {
  if (largest * static_cast<std::size_t>(team.size()) > 2 * total && largest > part) return slices;
  return reduce_scatter_block_rule(team, largest, direct);
}

// In the chain a rank waits until the one before it has waited; a message in the cell is there at
// once.
Protocol scan_rule(const Team& team, std::size_t bytes, bool direct) {
  if (team.mode() == WaitMode::sleep ? of_others(team, bytes) <= team.read_all_up_to().before
                                     : bytes <= kInline)
    return read_all;
  return direct && bytes >= team.direct_from().scan ? Protocol::direct : chain;
}

std::optional<std::string_view> unmet(const Team& team, Protocol way, std::size_t bytes, int root) {
  switch (way) {
    case Protocol::direct:
      if (!team.has_direct()) return "needs ranks that may copy from each other's memory";
      break;
    case last_arriver:
      if (team.mode() != WaitMode::sleep)
        return "needs ranks that sleep when they wait (UNISONO_WAIT=sleep)";
      if (bytes > team.slot_bytes()) return "needs a vector that fits into a slot";
      break;
    case levels:
      if (team.levels() == nullptr)
        return "needs ranks in groups: more than 16, or under several caches";
      if (team.mode() == WaitMode::sleep) return "needs ranks that do not sleep when they wait";
      if (bytes > kInline) return "needs messages of at most 112 bytes";
      if (root >= 0 && !team.levels()->groups.leads(root))
        return "needs a root that is the first rank of its group";
      break;
    default: break;
  }
  return std::nullopt;
}

}  // namespace unisono::node
