// The sub-communicators on which a composed algorithm calls the MPI library's own collectives, or
// those of a node.
#pragma once
#include <mpi.h>

#include <map>
#include <memory>
#include <span>
#include <utility>

#include "algorithms/composition.h"
#include "comm/node_memory.h"
#include "schedule/schedule.h"

namespace unisono {

/// The lines of grids that this rank is on, each a communicator, shared by all grids that have it.
/// Made at the first use, freed with the communicator they are of.
class SubCommunicators {
 public:
  ~SubCommunicators() { free(); }
  SubCommunicators() = default;
  SubCommunicators(const SubCommunicators&) = delete;
  SubCommunicators& operator=(const SubCommunicators&) = delete;

  /// How many of these lines have no communicator yet. The same on all ranks, who give the lines
  /// through rank 0.
  int missing(std::span<const CalledLine> lines) const;
  /// Makes them, of a full grid; collective over `comm`. False: not all could be made on this rank,
  /// now or before, or one that is to run in a node is not on one. The ranks must agree on what
  /// follows.
  bool make(MPI_Comm comm, std::span<const CalledLine> lines);
  /// The line through this rank. Precondition: made.
  MPI_Comm of(const Lattice& group) const { return find(group).comm; }
  node::Team& team_of(const Lattice& group) const { return find(group).team->team(); }
  int count() const { return static_cast<int>(lines_.size()); }
  void free();

 private:
  struct Line {
    MPI_Comm comm = MPI_COMM_NULL;
    bool asked_for_team = false;
    std::unique_ptr<NodeTeam> team;
  };
  using Place = std::pair<int, int>;  // stride, size

  const Line& find(const Lattice& group) const { return lines_.at({group.stride, group.size}); }

  std::map<Place, Line> lines_;
};

}  // namespace unisono
