// The memory that this process shares with the others of its node, and the teams that use it.
#pragma once
#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "node/pool.h"
#include "node/team.h"

namespace unisono {

/// A communicator's ranks on one node, with an arena. Destroying it is local: the last rank to do
/// so gives the arena back.
class NodeTeam {
 public:
  NodeTeam(node::Pool pool, const node::Arena& arena, int rank, int size,
           const node::WaitPolicy& policy)
      : pool_(pool), arena_(arena), team_(pool.memory(arena), rank, size, policy) {}
  ~NodeTeam() {
    if (team_.leave()) pool_.give_back(arena_);
  }
  NodeTeam(const NodeTeam&) = delete;
  NodeTeam& operator=(const NodeTeam&) = delete;

  node::Team& team() { return team_; }

 private:
  node::Pool pool_;
  node::Arena arena_;
  node::Team team_;
};

/// The bytes that UNISONO_SHM asks for: nothing for "auto". The error names what is valid.
Result<std::optional<long long>> parse_node_memory(const std::string& text);

/// Makes the memory of every node that several ranks of `world` are on: `bytes` each, or what suits
/// their number. All ranks of a node wait in the same way. Collective over `world`; a line says
/// where it could not be made.
void start_node_memory(MPI_Comm world, std::optional<long long> bytes, WaitMode mode);
/// No team is left. Local.
void stop_node_memory();

/// Whether the ranks of this node share memory; the same on all of them.
bool has_node_memory();

/// A team of the ranks of `comm`, who are all on this node. Collective over `comm`; null on all
/// ranks when there is no room.
std::unique_ptr<NodeTeam> make_team(MPI_Comm comm);

/// A communicator of this process alone.
MPI_Comm own_process();

}  // namespace unisono
