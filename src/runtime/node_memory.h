// The memory that this process shares with the others of its node, and the teams that use it.
#pragma once
#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "node/domains.h"
#include "node/pool.h"
#include "node/team.h"

namespace unisono {

/// A communicator's ranks on one node, with an arena. Destroying it is local: the last rank to do
/// so gives the arena back.
class NodeTeam {
 public:
  /// `processes` of all ranks, where they may copy directly; else none.
  NodeTeam(node::Pool pool, const node::Arena& arena, int rank, int size,
           const node::WaitPolicy& policy, std::vector<pid_t> processes)
      : pool_(pool),
        arena_(arena),
        processes_(std::move(processes)),
        team_(pool.memory(arena), rank, size, policy) {
    if (!processes_.empty()) team_.allow_direct(processes_, node::direct_from(size, policy.mode));
  }
  ~NodeTeam() {
    if (team_.leave()) pool_.give_back(arena_);
  }
  NodeTeam(const NodeTeam&) = delete;
  NodeTeam& operator=(const NodeTeam&) = delete;

  node::Team& team() { return team_; }
  /// A call begins. Where nobody ever waits long enough for idle(), every so many calls are a turn
  /// of the MPI library's: another process may wait for a message of ours.
  void begin_call() {
    if (++calls_ % kCallsPerTurn == 0) give_turn();
  }

 private:
  static constexpr unsigned kCallsPerTurn = 64;
  static void give_turn();

  node::Pool pool_;
  node::Arena arena_;
  std::vector<pid_t> processes_;
  node::Team team_;
  unsigned calls_ = 0;
};

/// The bytes that UNISONO_SHM asks for: nothing for "auto". The error names what is valid.
Result<std::optional<long long>> parse_node_memory(const std::string& text);

struct NodeSettings {
  std::optional<long long> bytes;  ///< of a node's memory; nothing: what suits its ranks
  bool single_copy = true;         ///< where the system allows it
  WaitMode mode = WaitMode::yield;
  std::string machine = node::kMachineFolder;  ///< see node/domains.h
};

/// Makes the memory of a node that several ranks are on; all will wait in the same way. `node`: all
/// of them, until stop_node_memory(). Collective; a line says where it could not be made.
void start_node_memory(MPI_Comm node, const NodeSettings& settings);
/// No team is left. Local.
void stop_node_memory();

/// Whether the ranks of this node share memory; the same on all of them.
bool has_node_memory();

/// The domain (node/domains.h) of every rank of `comm`, who are all on this node; empty where the
/// node's ranks are not in several. The same on all ranks. Local.
std::vector<int> domains_in(MPI_Comm comm);

/// A team of the ranks of `comm`, who are all on this node. Collective over `comm`; null on all
/// ranks when there is no room.
std::unique_ptr<NodeTeam> make_team(MPI_Comm comm);

/// A communicator of this process alone.
MPI_Comm own_process();

}  // namespace unisono
