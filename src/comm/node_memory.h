// The memory that this process shares with the others of its node, and the teams that use it.
#pragma once
#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "node/domains.h"
#include "node/messenger.h"
#include "node/pool.h"
#include "node/team.h"

namespace unisono {

/// Whom a rank waits for that waits for another of the same communicator.
struct Awaited {
  std::vector<int> members;    ///< on this node, by rank there
  MPI_Comm comm;               ///< of all, on other nodes too; revoked when a rank of those is lost
  node::Team* team = nullptr;  ///< whose ranks make the same calls, if one waits within a team
  /// The number of the call that this rank is in, among all of the team's communicator.
  const std::uint64_t* call = nullptr;
};

/// An arena of a communicator whose ranks are on one node.
struct NodeArena {
  node::Pool pool;
  node::Arena arena;
  int rank = 0, size = 1;
  std::unique_ptr<Awaited> awaited;  ///< for the policy
  node::WaitPolicy policy;
  std::vector<pid_t> processes;  ///< of all ranks, where they may copy directly; else none

  std::span<std::byte> memory() const { return pool.memory(arena); }
};

/// Lets the MPI library move its messages, unless we did so within the last 200 us.
void give_turn_to_library();

/// What it is used for: a node::Team, or a node::Messenger. Destroying it is local: the last rank
/// to do so gives the arena back.
template <class User>
class InNode {
 public:
  /// `shape`: what a User makes of its ranks, be it their number only.
  template <class Shape, class... More>
  InNode(NodeArena arena, const Shape& shape, const More&... more)
      : arena_(std::move(arena)),
        user_(arena_.memory(), arena_.rank, shape, arena_.policy, more...) {}
  ~InNode() {
    if (user_.leave()) arena_.pool.give_back(arena_.arena);
  }
  InNode(const InNode&) = delete;
  InNode& operator=(const InNode&) = delete;

  /// A call begins. Where nobody ever waits long enough for idle(), the MPI library has a turn now
  /// and then all the same, in one call of 16 if they take that long: another process may wait
  /// for a message of ours. Not even the clock is looked at in every call.
  void begin_call() {
    if (++calls_ % kCallsPerLook == 0) give_turn_to_library();
  }

 protected:
  static constexpr unsigned kCallsPerLook = 16;

  NodeArena arena_;
  User user_;
  unsigned calls_ = 0;
};

class NodeTeam : public InNode<node::Team> {
 public:
  NodeTeam(NodeArena arena, const node::Groups& groups, const node::Slots& slots,
           const node::Probing& probing);
  node::Team& team() { return user_; }
  /// Where the communicator whose ranks these are keeps the number of its call.
  void count_calls_by(const std::uint64_t& call) { arena_.awaited->call = &call; }
  /// A call of all ranks; `number`: among all calls of the communicator. Throws CallLeft, and what
  /// `run` throws.
  template <class Run>
  [[gnu::always_inline]] void make_call(node::CallWord call, std::uint64_t number, const Run& run) {
    InNode::begin_call();
    user_.begin_call(call, number);
    try {
      run();
    } catch (const node::CallLeft&) {
      throw;
    } catch (...) {
      user_.end_call();
      throw;
    }
    user_.end_call();
  }
  /// See Flags::end_calls(). Throws RankLost.
  std::uint64_t end_calls(bool failed);
  /// Before a call whose messages may go in slots: whether all ranks have memory for some. In a
  /// call of all of them; the same on all.
  bool make_room();
  /// From how many bytes on a message costs less if it is copied directly, by what the ranks have
  /// measured: now, if they have not. Collective.
  std::size_t direct_messages_from();
};

class NodeMessages : public InNode<node::Messenger> {
 public:
  NodeMessages(NodeArena arena, int ranks);
  /// Before the first message: where ranks may, those of so many bytes on are copied by their
  /// address.
  void copy_directly_from(std::size_t bytes);
  node::Messenger& messenger() { return user_; }
  /// For whoever uses the messenger, where several threads may.
  std::mutex& mutex() { return mutex_; }
  /// Requests that any thread may move at any time: while there are some nobody waits within the
  /// messenger.
  std::atomic<int>& movers() { return movers_; }

 private:
  std::mutex mutex_;
  std::atomic<int> movers_{0};
};

/// Of a node's memory: for the pool's books, the roster and a team, and what the books have room
/// for; and of a rank's ring.
inline constexpr long long kLeastBytes = 1LL << 20, kMostBytes = 32LL << 30;
inline constexpr std::size_t kLeastRing = node::Slots::kUsual * (2 << 10);

/// The bytes that UNISONO_SHM asks for: nothing for "auto". The error names what is valid.
Result<std::optional<long long>> parse_node_memory(const std::string& text);

/// The bytes of a rank's ring that UNISONO_SHM_RING asks for: nothing for "auto".
Result<std::optional<long long>> parse_ring(const std::string& text);
/// What UNISONO_SHM_STORE asks for: nothing for "auto".
Result<std::optional<node::Store>> parse_store(const std::string& text);

/// After how many bytes UNISONO_SHM_PROBE has teams measure: nothing for "auto", 0: never.
Result<std::optional<long long>> parse_probe(const std::string& text);

/// What the first rank tells the others when it makes the memory; only that rank's counts.
using Notice = std::array<std::byte, 2 << 10>;
/// Gives all ranks the notice of the first one. Collective.
using PostNotice = std::function<void(Notice&)>;

struct NodeSettings {
  std::optional<long long> bytes;    ///< of a node's memory; nothing: what suits its ranks
  std::optional<long long> ring;     ///< bytes of each rank's slots; nothing: what suits its caches
  std::optional<node::Store> store;  ///< how slots are written; nothing: what suits the machine
  std::optional<long long> probe;    ///< bytes after which teams measure the memory
  bool single_copy = true;           ///< where the system allows it
  WaitMode mode = WaitMode::yield;
  std::string machine = node::kMachineFolder;  ///< see node/domains.h
  Notice notice{};
};

/// Makes the memory of a node that several ranks are on; all will wait in the same way. `node`: all
/// of them, until stop_node_memory(). Collective; a line says where it could not be made.
void start_node_memory(MPI_Comm node, const NodeSettings& settings);
/// This rank may end now without being lost, whether teams are left or not. Local.
void stop_node_memory();

/// Whether the ranks of this node share memory; the same on all of them.
bool has_node_memory();
/// Precondition: has_node_memory().
const Notice& node_notice();
/// How ranks of the node wait for each other: as the slowest of them asks for. The same
/// precondition.
WaitMode node_wait();

/// The domain (node/domains.h) of every rank of `comm`, who are all on this node; empty where the
/// node's ranks are not in several. The same on all ranks. Local.
std::vector<int> domains_in(MPI_Comm comm);

/// A team of the ranks of `comm`, who are all on this node. Collective over `comm`; null on all
/// ranks when there is no room, or some rank may not. `whole`: the communicator of which this is a
/// part, until the team is gone; who waits for a rank here may wait, through it, for any of those.
/// Once it is revoked, nobody waits here any more.
std::unique_ptr<NodeTeam> make_team(MPI_Comm comm, MPI_Comm whole, bool may = true);
inline std::unique_ptr<NodeTeam> make_team(MPI_Comm comm) { return make_team(comm, comm); }
/// The same for messages between them.
std::unique_ptr<NodeMessages> make_messages(MPI_Comm comm, MPI_Comm whole);
inline std::unique_ptr<NodeMessages> make_messages(MPI_Comm comm) {
  return make_messages(comm, comm);
}

}  // namespace unisono
