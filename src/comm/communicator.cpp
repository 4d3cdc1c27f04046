#include "comm/communicator.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "comm/being_freed.h"
#include "comm/lingering.h"
#include "comm/ordinary.h"
#include "comm/outliving.h"
#include "mpi/agreement.h"
#include "mpi/comm.h"
#include "mpi/datatype.h"
#include "mpi/device_memory.h"
#include "mpi/private_communicator.h"
#include "mpi/rank_lost.h"

namespace unisono {

namespace {

// MPI libraries have few thousand context ids (MPICH: about 2000), and a program may need them all:
// beyond so many private duplicates communicators stay with the MPI library.
constexpr std::size_t kMostOwn = 256;

int g_keyval = MPI_KEYVAL_INVALID;
MPI_Group g_world = MPI_GROUP_NULL;

// A communicator that serves fewer short calls is not worth what Unisono makes for it, which takes
// as long as tens of them: programs split, reduce a number and free in loops. A long call gains as
// much as many short ones; one of 64 KiB is enough.
constexpr Count kCallsBefore = 32, kBytesPerCall = 2 << 10;

// A communicator asks for its duplicate so many times at most, a call each.
constexpr int kMostRefused = 16;

/// All states, by age: freeing is collective, and ranks that share communicators have met them in
/// this order. A list that needs no memory: programs make and free communicators in loops.
struct Registry {
  std::mutex mutex;
  Communicator *oldest = nullptr, *youngest = nullptr;
  std::size_t own = 0;
  // Of the ranks of MPI_COMM_WORLD, or empty; constant after the start.
  std::vector<int> nodes;
  TopologyLabels topology;
  Count portion_bytes = 0;
  // Of the communicator that asked last.
  int known_size = 0, known_nodes = 0;
  std::array<ByteRange, kCollectives> known_reach;
};

// Never destroyed: a program may finalize MPI in its own exit handlers, after ours.
Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

PlanStore& plan_store() {
  static PlanStore& plans = *new PlanStore;
  return plans;
}

/// In place of the state of a communicator that is not ordinary. A thread communicator is seen by
/// several threads at once, all of which may put it there.
std::byte g_not_ordinary;

int forget(MPI_Comm comm, int, void* value, void*) {
  g_forgotten_communicators.fetch_add(1, std::memory_order_release);
  if (value == &g_not_ordinary) return MPI_SUCCESS;
  auto* state = static_cast<Communicator*>(value);
  if (!state->has_lost_rank() && !state->is_inter()) let_outlive(comm, state->rank());
  state->release();
  return MPI_SUCCESS;
}

/// On how many nodes these ranks of MPI_COMM_WORLD are; `nodes`: of all.
int count_nodes(const std::vector<int>& in_world, const std::vector<int>& nodes) {
  if (nodes.empty()) return 1;
  std::vector<int> ranks = in_world;
  for (int& rank : ranks) rank = nodes[static_cast<std::size_t>(rank)];
  std::sort(ranks.begin(), ranks.end());
  return static_cast<int>(std::unique(ranks.begin(), ranks.end()) - ranks.begin());
}

void give_room(int communicators) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.own -= static_cast<std::size_t>(communicators);
}

/// Takes so many communicators of the process's limit; false: there is no room for them.
bool reserve(int communicators) {
  give_room(free_lingering(false));
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const std::size_t wanted = all.own + static_cast<std::size_t>(communicators);
  if (wanted > kMostOwn) return false;
  all.own = wanted;
  return true;
}

constinit thread_local LastCommunicator t_last_communicator{};

/// Of this thread, the innermost.
constinit thread_local const BeingFreed* t_being_freed = nullptr;

}  // namespace

constinit LastCommunicator g_last_communicator{};
constinit std::atomic<unsigned long> g_forgotten_communicators{0};

std::vector<int> ranks_in_world(MPI_Group group) {
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), in_world(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  PMPI_Group_translate_ranks(group, size, ranks.data(), g_world, in_world.data());
  if (std::find(in_world.begin(), in_world.end(), MPI_UNDEFINED) != in_world.end()) return {};
  return in_world;
}

std::vector<int> members_in_world(MPI_Comm comm) {
  MPI_Group group = group_of(comm);
  if (group == MPI_GROUP_NULL) return {};
  std::vector<int> ranks = ranks_in_world(group);
  PMPI_Group_free(&group);
  return ranks;
}

int count_nodes(MPI_Comm comm) { return count_nodes(members_in_world(comm), registry().nodes); }

// Every thread's last communicator is looked up anew, so that the fast path needs no look of its
// own.
BeingFreed::BeingFreed(MPI_Comm comm) : comm_(comm), outer_(std::exchange(t_being_freed, this)) {
  g_forgotten_communicators.fetch_add(1, std::memory_order_release);
}
BeingFreed::~BeingFreed() { t_being_freed = outer_; }

bool BeingFreed::holds(MPI_Comm comm) {
  const BeingFreed* one = t_being_freed;
  while (one != nullptr && one->comm_ != comm) one = one->outer_;
  return one != nullptr;
}

Communicator* Communicator::look_up(MPI_Comm comm) {
  LastCommunicator& last = several_threads() ? t_last_communicator : g_last_communicator;
  const unsigned long forgotten = g_forgotten_communicators.load(std::memory_order_acquire);
  if (last.comm == comm && last.forgotten == forgotten && last.state != nullptr) return last.state;
  if (comm == MPI_COMM_NULL || g_keyval == MPI_KEYVAL_INVALID) return nullptr;
  if (BeingFreed::holds(comm)) return nullptr;
  void* known = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(comm, g_keyval, static_cast<void*>(&known), &found) != MPI_SUCCESS)
    return nullptr;
  if (!found && !is_ordinary(comm)) {
    PMPI_Comm_set_attr(comm, g_keyval, &g_not_ordinary);
    return nullptr;
  }
  if (found && known == &g_not_ordinary) return nullptr;
  auto* state = static_cast<Communicator*>(known);
  if (!found) {
    state = new Communicator(comm);
    if (PMPI_Comm_set_attr(comm, g_keyval, state) != MPI_SUCCESS) {
      state->release();
      return nullptr;
    }
  }
  last = {comm, forgotten, state};
  return state;
}

Communicator::Communicator(MPI_Comm comm)
    : comm_(comm), calls_to_come_(comm == MPI_COMM_WORLD ? 0 : kCallsBefore), plans_(plan_store()) {
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  is_inter_ = inter != 0;
  PMPI_Comm_rank(comm, &rank_);
  PMPI_Comm_size(comm, &size_);
  has_met_ = is_inter_ || size_ == 1;
  reach_.fill(has_met_ ? ByteRange() : ByteRange::all());
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  older_ = std::exchange(all.youngest, this);
  (older_ != nullptr ? older_->younger_ : all.oldest) = this;
}

void Communicator::meet() {
  if (std::exchange(has_met_, true)) return;
  look_for_devices();
  const std::vector<int> ranks = members_in_world(comm_);
  if (ranks.empty()) return reach_.fill(ByteRange());
  nodes_ = count_nodes(ranks, registry().nodes);
  const int groups = count_nodes(ranks, registry().topology.at(Level::node));
  has_levels_ = groups > 1 && groups < size_;
  may_be_on_torus_ = groups > 1 && registry().topology.torus.is_described();
  may_share_ = in_node_ = nodes_ == 1 && has_node_memory();
}

bool Communicator::is_worth_it(Count bytes) {
  if (calls_to_come_ > 0) calls_to_come_ -= 1 + bytes / kBytesPerCall;
  return calls_to_come_ <= 0;
}

Communicator::~Communicator() {
  Registry& all = registry();
  {
    const std::lock_guard lock(all.mutex);
    (older_ != nullptr ? older_->younger_ : all.oldest) = younger_;
    (younger_ != nullptr ? younger_->older_ : all.youngest) = older_;
  }
  free_own();
}

// What depends on no more than these two is found out once for communicators that come and go.
void Communicator::learn_reach(const Selector& selector) {
  knows_reach_ = true;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (all.known_size != size_ || all.known_nodes != nodes_) {
    for (int c = 0; c < kCollectives; ++c)
      all.known_reach[static_cast<std::size_t>(c)] =
          selector.reach(static_cast<Collective>(c), size_, nodes_);
    all.known_size = size_;
    all.known_nodes = nodes_;
  }
  reach_ = all.known_reach;
}

void forget_reaches() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.known_size = 0;
  for (Communicator* state = all.oldest; state != nullptr; state = state->younger_) {
    if (state->known_kinds_ != nullptr) state->known_kinds_->forget();
    state->leave_none();
    if (!state->knows_reach_ || state->has_lost_rank_) continue;
    state->knows_reach_ = false;
    state->reach_.fill(ByteRange::all());
  }
}

void Communicator::free_own() {
  if (learning_ != nullptr) learning_->record(*this);
  if (own_ == MPI_COMM_NULL) return;
  std::unique_ptr<EndingGroups> ending = multicast_.end();
  if (has_lost_rank_) ending.reset();  // not all would come
  give_room(groups_.count());
  groups_.free();
  // Other threads may wait meanwhile for what the MPI library holds while it deletes attributes,
  // and other ranks for them.
  const bool learns = learning_ != nullptr && several_threads() && !learning_->is_over();
  if (!learns && learning_ != nullptr) learning_->complete();
  if (learns || ending != nullptr)
    return linger({std::exchange(own_, MPI_COMM_NULL), learns ? std::move(learning_) : nullptr,
                   std::move(ending)});
  PMPI_Comm_free(&own_);
  own_ = MPI_COMM_NULL;
  give_room(1);
}

void Communicator::make_team() {
  if (!may_share_) return;
  team_ = unisono::make_team(comm_, comm_, !has_stream(comm_));
  may_share_ = team_ != nullptr;
  if (team_ == nullptr) return;
  attendance_.meet_in(team_->team());
  team_->count_calls_by(attendance_.call());
  known_kinds_ = std::make_unique<KnownKinds>(*team_);
  team_->team().when_due([](void* kinds) { static_cast<KnownKinds*>(kinds)->outdate(); },
                         known_kinds_.get());
}

// Requests may hold on to the team and the messages.
void Communicator::stop_serving() {
  leave_all();
  if (team_ != nullptr) team_->team().when_due(nullptr, nullptr);
  known_kinds_.reset();
}

void Communicator::leave_all() {
  knows_reach_ = true;
  reach_.fill(ByteRange());
}

void Communicator::meet_device() {
  if (g_stages_devices) return;
  has_met_device_ = true;
  if (team_ != nullptr) team_->team().ask_to_retire();
}

bool Communicator::leaves_to_device(bool met_device) {
  constexpr unsigned kCallsPerQuestion = 64;
  if (!some_has_driver_) return false;
  has_met_device_ = has_met_device_ || met_device;
  if (calls_by_messages_++ % kCallsPerQuestion != 0 || all_agree(comm_, !has_met_device_))
    return false;
  stop_serving();
  return true;
}

void Communicator::lose_rank() {
  has_lost_rank_ = true;
  stop_serving();
  if (own_ != MPI_COMM_NULL) revoke(own_);
  groups_.revoke();
}

// Requests use them when the program may have freed its handle.
void Communicator::make_messages() {
  if (!in_node_ || asked_for_messages_ || (own() == MPI_COMM_NULL && !asked_)) return;
  asked_for_messages_ = true;
  if (own_ != MPI_COMM_NULL) messages_ = unisono::make_messages(comm_, own_);
  if (messages_ == nullptr || !may_share_ || team() == nullptr) return;
  messages_->copy_directly_from(team_->direct_messages_from());
}

// The number of communicators is not the same on all ranks, so that they must ask each other.
bool Communicator::take_room(int communicators) const {
  const bool room =
      !has_stream(comm_) && !may_be_duplicating() && prepare_copies() && reserve(communicators);
  const bool all = all_agree(comm_, room);
  if (room && !all) give_room(communicators);
  return all;
}

// Once all have come: who waits for a thread's communicator waits for no rank but those.
bool Communicator::all_may(const UnisonoMakes& makes) const {
  return !kMakesInTurn || all_agree(comm_, makes.may());
}

Portions Communicator::portions(Count unit_bytes) {
  if (nodes_ == 1) return {};
  Portions portions;
  if (const Count bytes = registry().portion_bytes; bytes > 0)
    portions.units = std::max<Count>(1, bytes / std::max<Count>(1, unit_bytes));
  if (has_levels_) {
    portions.nodes = topology().at(Level::node)->group_of_ranks();
    portions.node = portions.nodes[static_cast<std::size_t>(rank_)];
  }
  return portions;
}

const Topology& Communicator::topology() {
  if (topology_ != nullptr) return *topology_;
  TopologyLabels labels = registry().topology;
  if (!labels.at(Level::node).empty()) {
    labels = labels.restricted_to(members_in_world(comm_));
  } else {
    labels.at(Level::node).assign(static_cast<std::size_t>(size_), 0);
  }
  if (labels.torus.as_cart) labels.torus = hosts_of_cart(comm_, labels.torus.routing);
  topology_ = std::make_unique<Topology>(size_, labels);
  return *topology_;
}

const Neighbourhood* Communicator::neighbours() {
  if (!std::exchange(has_looked_for_neighbours_, true)) neighbours_ = neighbours_of(comm_);
  return neighbours_ ? &*neighbours_ : nullptr;
}

const NeighbourGraph* Communicator::graph() {
  if (!std::exchange(has_asked_for_graph_, true)) graph_ = graph_of(comm_);
  return graph_.get();
}

bool Communicator::has_groups(const Composition& composition, Collective collective, int root) {
  const Topology* topology = composition.levels.empty() ? nullptr : &this->topology();
  const bool any_root = !has_groups_of_root(composition, collective, size_, topology);
  const std::tuple key(&composition, collective, any_root ? 0 : root);
  const auto known = groups_made_.find(key);
  if (known != groups_made_.end()) return known->second;
  const auto groups = called_groups(composition, collective, size_, root, topology);
  return groups_made_[key] = own() != MPI_COMM_NULL && make_groups(groups);
}

bool Communicator::make_groups(std::span<const CalledGroups> groups) {
  const int missing = groups_.missing(groups);
  if (!take_room(missing)) return false;
  const UnisonoMakes makes;
  if (all_may(makes)) return all_agree(comm_, groups_.make(own_, groups));
  give_room(missing);
  return false;
}

void Communicator::want_own() {
  if (!std::exchange(wants_own_, true)) take_long_way();
}

void Communicator::want_messages() {
  if (!std::exchange(wants_messages_, true)) take_long_way();
}

/// Some ranks may not have learned their reach.
void Communicator::take_long_way() {
  leave_none();
  if (std::exchange(knows_reach_, false)) reach_.fill(ByteRange::all());
  if (known_kinds_ == nullptr) return;
  for (const Semantics& row : kSemantics) known_kinds_->forget(row.collective);
}

MPI_Comm Communicator::own() {
  if (asked_) return own_;
  asked_ = true;
  if (!take_room(1)) return own_;
  const UnisonoMakes makes;
  if (!all_may(makes)) {
    asked_ = ++refused_ == kMostRefused;
    give_room(1);
    return own_;
  }
  own_ = private_communicator(comm_);
  constexpr unsigned kMade = 1, kNoDriver = 2;
  const bool may_meet_device = has_devices() && !g_stages_devices;
  const unsigned all =
      all_agree_on(comm_, (own_ != MPI_COMM_NULL ? kMade : 0) | (may_meet_device ? 0 : kNoDriver));
  some_has_driver_ = (all & kNoDriver) == 0;
  if ((all & kMade) != 0) {
    if (nodes_ > 1) ahead_ = std::make_unique<Ahead>(size_);
    return own_;
  }
  if (own_ != MPI_COMM_NULL) PMPI_Comm_free(&own_);
  give_room(1);
  return own_ = MPI_COMM_NULL;
}

std::unique_ptr<Workspace> Communicator::take_workspace() {
  const std::lock_guard lock(idle_mutex_);
  for (auto& workspace : idle_)
    if (workspace != nullptr) return std::move(workspace);
  return std::make_unique<Workspace>();
}

void Communicator::give_back(std::unique_ptr<Workspace> workspace) noexcept {
  if (workspace == nullptr) return;
  const std::lock_guard lock(idle_mutex_);
  for (auto& place : idle_)
    if (place == nullptr) {
      place = std::move(workspace);
      return;
    }
}

void start_communicators(std::size_t plan_cache_bytes, std::vector<int> nodes,
                         TopologyLabels topology, Count portion_bytes) {
  plan_store().set_limit(plan_cache_bytes);
  registry().nodes = std::move(nodes);
  registry().topology = std::move(topology);
  registry().portion_bytes = portion_bytes;
  PMPI_Comm_group(MPI_COMM_WORLD, &g_world);
  start_tags();
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &g_keyval, nullptr);
}

// The states stay: a communicator that the program freed in its own delete callback, after ours,
// may be gone, and only MPI knows. What is left of it is a handle that nobody uses.
/// By age. They live until each is released.
std::vector<Communicator*> all_communicators() {
  Registry& all = registry();
  std::vector<Communicator*> states;
  const std::lock_guard lock(all.mutex);
  for (Communicator* state = all.oldest; state != nullptr; state = state->younger_)
    if (state->retain_if_alive()) states.push_back(state);
  return states;
}

void complete_learning() {
  complete_lingering();
  for (Communicator* state : all_communicators()) {
    if (const auto& learning = state->learning()) learning->complete_if_idle();
    state->release();
  }
}

void stop_communicators() {
  if (g_keyval == MPI_KEYVAL_INVALID) return;
  for (Communicator* state : all_communicators()) {
    state->free_own();
    state->known_kinds_.reset();
    state->team_.reset();
    state->messages_.reset();
    state->may_share_ = state->in_node_ = false;
    state->release();
  }
  give_room(free_lingering(true));
  PMPI_Comm_free_keyval(&g_keyval);
  PMPI_Group_free(&g_world);
}

}  // namespace unisono
