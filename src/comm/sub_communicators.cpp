#include "comm/sub_communicators.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "comm/communicator.h"
#include "exec/kernel_reduction.h"
#include "mpi/comm.h"
#include "mpi/rank_lost.h"
#include "node/kernels.h"

namespace unisono {

SubCommunicators::Set* SubCommunicators::find(const std::vector<RankGroup>& groups) {
  const auto set = std::find_if(sets_.begin(), sets_.end(),
                                [&](const Set& known) { return known.groups == groups; });
  return set == sets_.end() ? nullptr : &*set;
}

int SubCommunicators::missing(std::span<const CalledGroups> wanted) const {
  return static_cast<int>(std::count_if(wanted.begin(), wanted.end(), [this](const auto& called) {
    return std::none_of(sets_.begin(), sets_.end(),
                        [&](const Set& known) { return known.groups == called.groups; });
  }));
}

namespace {

struct Membership {
  int group = MPI_UNDEFINED, position = 0;
};

Membership membership_of(int rank, const std::vector<RankGroup>& groups) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto& ranks = groups[i].ranks;
    const auto at = std::find(ranks.begin(), ranks.end(), rank);
    if (at != ranks.end()) return {static_cast<int>(i), static_cast<int>(at - ranks.begin())};
  }
  return {};
}

}  // namespace

bool SubCommunicators::make(MPI_Comm comm, std::span<const CalledGroups> wanted) {
  bool complete = true;
  for (const auto& [groups, in_node] : wanted) {
    Set* set = find(groups);
    if (set == nullptr) {
      set = &sets_.emplace_back();
      set->groups = groups;
      const auto [group, position] = membership_of(rank_in(comm), groups);
      if (group != MPI_UNDEFINED) set->own = &set->groups[static_cast<std::size_t>(group)];
      if (PMPI_Comm_split(comm, group, position, &set->comm) != MPI_SUCCESS)
        set->comm = MPI_COMM_NULL;
      if (set->comm != MPI_COMM_NULL) PMPI_Comm_set_errhandler(set->comm, MPI_ERRORS_RETURN);
    }
    if (set->own == nullptr) continue;
    complete &= set->comm != MPI_COMM_NULL;
    if (!in_node || set->comm == MPI_COMM_NULL) continue;
    if (!std::exchange(set->asked_for_team, true) && count_nodes(set->comm) == 1 &&
        has_node_memory())
      set->team = make_team(set->comm, comm);
    complete &= set->team != nullptr && set->team->make_room() &&
                node::can_reduce(set->team->team(), kLargestPredefined);
  }
  return complete;
}

MPI_Comm SubCommunicators::of(const RankGroup& group) const {
  for (const Set& set : sets_)
    if (set.own != nullptr && *set.own == group) return set.comm;
  return MPI_COMM_NULL;
}

node::Team& SubCommunicators::team_of(const RankGroup& group) const {
  const auto set = std::find_if(sets_.begin(), sets_.end(), [&](const Set& known) {
    return known.own != nullptr && *known.own == group && known.team != nullptr;
  });
  assert(set != sets_.end() && "see make()");
  return set->team->team();
}

void SubCommunicators::revoke() const {
  for (const Set& set : sets_)
    if (set.comm != MPI_COMM_NULL) unisono::revoke(set.comm);
}

void SubCommunicators::free() {
  for (Set& set : sets_)
    if (set.comm != MPI_COMM_NULL) PMPI_Comm_free(&set.comm);
  sets_.clear();
}

}  // namespace unisono
