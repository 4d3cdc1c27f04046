// What Unisono keeps of a communicator, in an attribute of it, from its first use to its free.
#pragma once
#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "algorithms/composition.h"
#include "comm/attendance.h"
#include "comm/chosen_segments.h"
#include "comm/known_kinds.h"
#include "comm/learning.h"
#include "comm/making.h"
#include "comm/multicast_groups.h"
#include "comm/neighbours.h"
#include "comm/node_memory.h"
#include "comm/planned_calls.h"
#include "comm/sub_communicators.h"
#include "comm/tags.h"
#include "exec/execution.h"
#include "exec/mpi_transport.h"
#include "exec/multicast_transport.h"
#include "exec/plan.h"
#include "exec/shm_transport.h"
#include "mpi/peers.h"
#include "mpi/simulated.h"
#include "mpi/threads.h"
#include "schedule/collective.h"
#include "select/online/key.h"
#include "select/selector.h"
#include "topology/topology.h"

namespace unisono {

class Communicator;

/// Programs call many collectives in a row on one communicator: this saves the look-up.
struct LastCommunicator {
  MPI_Comm comm;
  unsigned long forgotten;
  Communicator* state;  // null: there is none
};
extern constinit LastCommunicator g_last_communicator;  ///< where one thread calls at a time
/// Counts freed communicators, whose handles may come again and stand for others.
extern constinit std::atomic<unsigned long> g_forgotten_communicators;

/// What a trace knows of a communicator.
struct TracedCommunicator {
  static constexpr std::uint32_t kNew = ~0U;
  std::uint32_t id = kNew;
  std::uint32_t calls = 0;
  int others = 0;  ///< ranks; of the remote group for an inter-communicator
  bool inter = false;
  PeerCounts neighbours;  ///< none without a topology
};

/// What a request needs while it is under way.
struct Workspace {
  Execution execution;
  MpiTransport mpi;
  ShmTransport shm;
  MulticastTransport multicast;
};

class Communicator {
 public:
  /// The state of `comm`, made at the first use. Local. nullptr for MPI_COMM_NULL, for what is not
  /// ordinary (comm/ordinary.h), and when the attribute cannot be set.
  static Communicator* of(MPI_Comm comm) {
    const LastCommunicator& last = g_last_communicator;
    const bool same = !several_threads() && last.state != nullptr && last.comm == comm &&
                      last.forgotten == g_forgotten_communicators.load(std::memory_order_relaxed);
    return same ? last.state : look_up(comm);
  }

  /// Counts one of the first few calls, if this one, of so many bytes, is one, and no long one. For
  /// a communicator that is freed after them not even what meet() finds out is worth its time. The
  /// same on all ranks, which see the same calls.
  bool is_passing(Count bytes) {
    return !has_met_ && --calls_in_passing_ > 0 && !is_worth_it(bytes);
  }
  /// Finds out who the ranks are and where. Until then reach() holds all bytes, nodes() is 1, and
  /// nothing is shared. Local.
  void meet();

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_inter() const { return is_inter_; }
  /// That its ranks are on; 1 when start_communicators was given no nodes. The same on all ranks.
  int nodes() const { return nodes_; }
  /// Whether its ranks are on several nodes, of which some has several of them: as the MPI library
  /// sees it, or a file says. The same on all ranks.
  bool has_levels() const { return has_levels_; }
  /// The bytes for which a call of this collective may be anything but the MPI library's: all until
  /// learn_reach. None, ever, with one rank, between two groups, and where not all ranks have
  /// agreed with each other in MPI_Init. All ranks see that alike: one of another MPI_COMM_WORLD is
  /// foreign to some rank, and every rank sees the whole group.
  const ByteRange& reach(Collective c) const { return reach_[static_cast<std::size_t>(c)]; }
  /// Counts a call of about so many bytes: whether it was left to the MPI library beforehand. The
  /// same on all ranks, which see the same calls.
  bool is_left(Collective c, Count bytes) {
    LeftCalls* row = left_[static_cast<std::size_t>(c)].get();
    if (row == nullptr) return false;
    std::uint32_t& calls = (*row)[static_cast<std::size_t>(size_class(bytes))];
    if (calls != 0 && calls != kAlways) --calls;
    return calls != 0;
  }
  /// Whether any have been; the same on all ranks.
  bool leaves_any(Collective c) const { return left_[static_cast<std::size_t>(c)] != nullptr; }
  /// Leaves as many of these calls, until the selector changes.
  static constexpr std::uint32_t kAlways = ~std::uint32_t{0};
  void leave(Collective c, Count bytes, std::uint32_t calls = kAlways) {
    std::unique_ptr<LeftCalls>& row = left_[static_cast<std::size_t>(c)];
    if (row == nullptr) row = std::make_unique<LeftCalls>();
    // A rank that has to go the long way would not be where the others are.
    if (known_kinds_ != nullptr) known_kinds_->forget(c);
    (*row)[static_cast<std::size_t>(size_class(bytes))] = calls == kAlways ? calls : calls + 1;
  }
  bool knows_reach() const { return knows_reach_; }
  void learn_reach(const Selector& selector);

  /// Counts one more call, of so many bytes, that Unisono chose to run by itself: whether the
  /// communicator has served enough of them for what that takes (a team, a duplicate) to be made.
  /// At once for MPI_COMM_WORLD and for long calls. The same on all ranks, which see the same
  /// calls.
  bool is_worth_it(Count bytes);

  /// The program's own: for what is collective and happens at the same call on all ranks.
  MPI_Comm handle() const { return comm_; }
  /// The private duplicate, made at the first request. Collective over the communicator; the answer
  /// is the same on all ranks: MPI_COMM_NULL when some rank has no room for another communicator.
  MPI_Comm own();
  /// Whether it is there: what waits for nobody cannot ask for it.
  bool has_own() const { return own_ != MPI_COMM_NULL; }
  /// The next call that takes the long way is to make it, whatever it is; and the next one takes
  /// it. Local, at the same call on all ranks.
  void want_own();
  bool wants_own() const { return wants_own_ && !asked_; }
  /// The same for messages().
  void want_messages();
  bool wants_messages() const { return wants_messages_ && !asked_for_messages_; }
  /// In the next call, whatever it is. Local, at the same call on all ranks.
  void take_long_way();
  /// Of the messages on own().
  TagBook& tags() { return tags_; }

  /// Whether team() may be asked for: all ranks are on one node, which shares memory, and no room
  /// was missing so far. The same on all ranks.
  bool may_share() const { return may_share_; }
  /// The ranks as the kernels of src/node want them, made at the first request, which is collective
  /// over the communicator; the answer is the same on all ranks. Precondition: may_share().
  NodeTeam* team() {
    if (team_ == nullptr) make_team();
    return team_.get();
  }
  /// Whether messages() may be asked for: all ranks are on one node, which shares memory. The same
  /// on all ranks.
  bool may_send_in_node() const { return in_node_; }
  /// For messages between the ranks through the memory of the node; otherwise like team().
  NodeMessages* messages() {
    if (messages_ == nullptr) make_messages();
    return messages_.get();
  }
  /// The team, if it has measured what the memory costs; null otherwise. The same on all ranks.
  const node::Team* measured_team() {
    return team_ != nullptr && team_->team().measured() ? &team_->team() : nullptr;
  }
  /// A rank has died: a call fails, and those that follow are the MPI library's. Who waits for this
  /// rank in a call of ours is told.
  void lose_rank();
  bool has_lost_rank() const { return has_lost_rank_; }
  /// This call of this rank has a buffer on a device: all ranks are to leave such calls to the MPI
  /// library (UNISONO_DEVICE), from a later call on.
  void meet_device();
  /// Whether that call has come, where kernels of the node count calls. The same on all ranks.
  bool is_retired() const { return team_ != nullptr && team_->team().is_retired(); }
  /// The same where messages serve calls: whether the ranks are to leave this one, on which this
  /// rank has met a device or not, and all after it. Collective over the communicator in the first
  /// call and some others, the same on all ranks, if some rank had a driver when own() was made.
  bool leaves_to_device(bool met_device);
  Attendance& attendance() { return attendance_; }
  /// All that follows is the MPI library's. At the same call on all ranks, or after an error.
  void stop_serving();
  /// The same while calls are under way, which go on.
  void leave_all();
  /// What ended a call on the fast path, until it is taken, once.
  void keep_failure(std::exception_ptr failure) { failure_ = std::move(failure); }
  std::exception_ptr take_failure() { return std::exchange(failure_, nullptr); }
  /// Of calls that the team runs; null without one.
  KnownKinds* known_kinds() { return known_kinds_.get(); }

  /// Made at the first request. Local, and the same on all ranks.
  const Topology& topology();
  /// As far as a price depends on it; null: its ranks are on nodes in blocks, all of one length.
  const Topology* priced_topology() {
    return has_levels_ || may_be_on_torus_ ? &topology() : nullptr;
  }
  /// Of messages of such units. The same on all ranks.
  Portions portions(Count unit_bytes);
  /// Of the messages on own() to other nodes; null within one, where memory bounds what is ahead.
  Ahead* ahead() const { return ahead_.get(); }

  /// Of its virtual topology; null: it has none. Local.
  const Neighbourhood* neighbours();
  /// Whether they have been asked for, and there are some.
  bool has_neighbours() const { return neighbours_.has_value(); }
  /// Of all ranks; null as graph_of() says. Made at the first request, which is collective over the
  /// communicator unless knows_graph() or every_rank_knows_all().
  const NeighbourGraph* graph();
  /// Whether graph() has been asked for, and is not null. The same on all ranks.
  bool knows_graph() const { return graph_ != nullptr; }

  /// Whether there are communicators for the phases of this (interned) composition that are the MPI
  /// library's. They are made at the first request, which is collective over the communicator; the
  /// answer is the same on all ranks.
  bool has_groups(const Composition& composition, Collective collective, int root);
  SubCommunicators& groups() { return groups_; }

  /// Whether its ranks may be asked for a multicast group. The same on all ranks.
  bool may_multicast() const { return !kSimulated && nodes_ > 1 && !multicast_.is_refused(); }
  MulticastGroups& multicast() { return multicast_; }

  PlannedCalls& planned_calls() { return planned_calls_; }

  TracedCommunicator& traced() { return traced_; }

  ChosenSegments& segments() { return segments_; }
  /// Whether the next call that waits for all ranks is to make or find something: all of them must
  /// see it.
  bool wants_anything() const {
    return wants_own() || wants_messages() || !segments_.wanted.empty();
  }

  /// What is learned here; null until the selector that learns has put it there.
  std::unique_ptr<Learning>& learning() { return learning_; }

  /// Guards plans() and key_memory(): another thread may go on with a request in flight.
  std::mutex& plans_mutex() { return plans_mutex_; }
  PlanCache& plans() { return plans_; }
  /// What runs a schedule, used again by later calls.
  std::unique_ptr<Workspace> take_workspace();
  void give_back(std::unique_ptr<Workspace> workspace) noexcept;
  /// It lives on while requests use it, though the program has freed the handle.
  void retain() { users_.fetch_add(1, std::memory_order_relaxed); }
  /// False: it is being destroyed.
  bool retain_if_alive() {
    int users = users_.load();
    while (users > 0 && !users_.compare_exchange_weak(users, users + 1)) {
    }
    return users > 0;
  }
  void release() {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /// Memory for the key of a plan, used again by every call.
  std::string& key_memory() { return key_memory_; }
  /// True the first time it is asked about this collective.
  bool is_first(Collective c) {
    const CollectiveSet before = std::exchange(complained_, complained_ | set_of(c));
    return !contains(before, c);
  }
  /// True the first time this text comes.
  bool is_new(std::string text) { return said_.insert(std::move(text)).second; }

  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

 private:
  explicit Communicator(MPI_Comm comm);
  void leave_none() {
    for (auto& row : left_) row.reset();
  }
  ~Communicator();
  static Communicator* look_up(MPI_Comm comm);
  void free_own();
  void make_team();
  void make_messages();
  bool take_room(int communicators) const;
  bool all_may(const UnisonoMakes& makes) const;
  bool make_groups(std::span<const CalledGroups> groups);

  MPI_Comm comm_;
  Attendance attendance_;
  Count calls_to_come_;  // until it is worth anything
  int calls_in_passing_ = 4;
  bool has_met_ = false;
  bool is_inter_ = false;
  int rank_ = 0;
  int size_ = 1;
  int nodes_ = 1;
  bool has_levels_ = false;
  bool may_be_on_torus_ = false;  // on several nodes, which a file places there
  bool knows_reach_ = false;
  std::array<ByteRange, kCollectives> reach_;
  using LeftCalls = std::array<std::uint32_t, kSizeClasses>;  // by size: calls, and one more
  std::array<std::unique_ptr<LeftCalls>, kCollectives> left_;
  MPI_Comm own_ = MPI_COMM_NULL;
  bool asked_ = false;  // own() has been decided
  bool wants_own_ = false, wants_messages_ = false;
  int refused_ = 0;       // it was not, for a thread made another communicator
  bool in_node_ = false;  // all ranks, and it shares memory
  bool may_share_ = false;
  bool has_lost_rank_ = false;
  std::exception_ptr failure_;
  bool some_has_driver_ = false, has_met_device_ = false;
  unsigned calls_by_messages_ = 0;  // counted where some_has_driver_
  std::unique_ptr<NodeTeam> team_;
  bool asked_for_messages_ = false;
  std::unique_ptr<NodeMessages> messages_;
  std::unique_ptr<KnownKinds> known_kinds_;
  SubCommunicators groups_;
  MulticastGroups multicast_;
  ChosenSegments segments_;
  std::unique_ptr<Learning> learning_;
  /// By the root, too, where it matters.
  std::map<std::tuple<const Composition*, Collective, int>, bool> groups_made_;
  std::unique_ptr<const Topology> topology_;
  bool has_looked_for_neighbours_ = false, has_asked_for_graph_ = false;
  std::optional<Neighbourhood> neighbours_;
  std::unique_ptr<const NeighbourGraph> graph_;
  PlannedCalls planned_calls_;
  TagBook tags_;
  std::unique_ptr<Ahead> ahead_;
  // Another thread may end a request in flight while the program's starts the next.
  std::mutex idle_mutex_;
  std::mutex plans_mutex_;
  TracedCommunicator traced_;
  Communicator *older_ = nullptr, *younger_ = nullptr;  // see Registry
  PlanCache plans_;
  // Each may keep 64 KiB of scratch memory.
  std::array<std::unique_ptr<Workspace>, 4> idle_;
  std::atomic<int> users_{1};  // the attribute, and requests
  std::string key_memory_;
  CollectiveSet complained_ = 0;
  std::set<std::string> said_;

  friend void stop_communicators();
  friend std::vector<Communicator*> all_communicators();
  friend void forget_reaches();
};

/// The ranks of the group in MPI_COMM_WORLD; empty when one is not in it.
std::vector<int> ranks_in_world(MPI_Group group);
/// Of a communicator, its own group's.
std::vector<int> members_in_world(MPI_Comm comm);
/// On how many nodes the ranks of a communicator are whose ranks are all in MPI_COMM_WORLD; 1 when
/// start_communicators was given no nodes. Local, and the same on all ranks.
int count_nodes(MPI_Comm comm);

/// Collective over MPI_COMM_WORLD. Until then, and after stop, there is no state of any.
/// `nodes`: of every rank of MPI_COMM_WORLD; or empty, when there is one, or nobody will ask.
/// `topology`: of them as well; without any all ranks are on one node. `portion_bytes`: what
/// messages between nodes are cut into, the same on all ranks; 0: they are not.
void start_communicators(std::size_t plan_cache_bytes, std::vector<int> nodes = {},
                         TopologyLabels topology = {}, Count portion_bytes = 0);
/// The selector has changed. No call is under way.
void forget_reaches();
/// Waits for what is being learned, on all of them that no thread uses just now. Local.
void complete_learning();
/// Frees all private duplicates. Collective over MPI_COMM_WORLD; call before MPI_Finalize.
void stop_communicators();

}  // namespace unisono
