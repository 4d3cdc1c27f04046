// The sub-communicators on which a composed algorithm calls the MPI library's own collectives, or
// those of a node.
#pragma once
#include <mpi.h>

#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/composition.h"
#include "comm/node_memory.h"
#include "schedule/schedule.h"

namespace unisono {

/// The groups of grids that this rank is in, each a communicator, shared by all grids that have
/// them. Made at the first use, freed with the communicator they are of.
class SubCommunicators {
 public:
  ~SubCommunicators() { free(); }
  SubCommunicators() = default;
  SubCommunicators(const SubCommunicators&) = delete;
  SubCommunicators& operator=(const SubCommunicators&) = delete;

  /// How many of these sets of groups have no communicators yet. The same on all ranks.
  int missing(std::span<const CalledGroups> wanted) const;
  /// Makes them; collective over `comm`. False: not all could be made on this rank, now or before,
  /// or one that is to run in a node is not on one. The ranks must agree on what follows.
  bool make(MPI_Comm comm, std::span<const CalledGroups> wanted);
  /// That of a group which this rank is in. Precondition: made.
  MPI_Comm of(const RankGroup& group) const;
  node::Team& team_of(const RankGroup& group) const;
  /// Sets of groups; a process has one communicator of each at most.
  int count() const { return static_cast<int>(sets_.size()); }
  /// See unisono::revoke().
  void revoke() const;
  void free();

 private:
  struct Set {
    std::vector<RankGroup> groups;
    const RankGroup* own = nullptr;  // null: this rank is in none
    MPI_Comm comm = MPI_COMM_NULL;
    bool asked_for_team = false;
    std::unique_ptr<NodeTeam> team;
  };

  Set* find(const std::vector<RankGroup>& groups);

  std::list<Set> sets_;  // whose addresses stay
};

}  // namespace unisono
