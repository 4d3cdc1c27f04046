#include "model/predict.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <random>
#include <string>
#include <tuple>
#include <utility>

#include "model/graph.h"
#include "model/meetings.h"
#include "model/port_queue.h"
#include "model/ports.h"

namespace unisono {

namespace {

struct Event {
  enum Kind : std::uint8_t { begin, complete, depart, arrive, release };
  double time = 0;
  OpId position = 0;  // in its rank's program: at the same moment earlier ops come first
  VertexId id = 0;
  Kind kind = complete;

  bool operator>(const Event& other) const {
    return std::tie(time, position, id, kind) >
           std::tie(other.time, other.position, other.id, other.kind);
  }
};

class Walk {
 public:
  /// `in_memory`: messages go through the memory of the node, which the machine has times for.
  Walk(std::span<const Schedule> schedules, Count unit_bytes, const Machine& machine,
       std::span<const int> node_of_rank, bool in_memory, const TorusPlacement* torus);
  /// `late`: when each rank begins; empty: all at 0. Infinity: more than `most`.
  Result<double> go(std::span<const double> late, double most);
  /// Of each rank; after go(), which found an end.
  const std::vector<double>& exits() const { return exits_; }
  /// Those that a call before has left.
  void set_ports(AllPorts ports) { ports_ = std::move(ports); }
  AllPorts& ports() { return ports_; }
  void set_random(std::minstd_rand random) { random_ = random; }
  std::minstd_rand random() const { return random_; }

 private:
  static constexpr double kNever = -1;

  void start(VertexId id, double now);
  void start_send(VertexId id, double now);
  Service pass(Server& port, LevelId level, double now, double gap) const;
  /// Of a copy or a reduction.
  double local_seconds(VertexId id) const;
  void send_in_memory(VertexId id, double now);
  /// An op of its rank's core: now, or when that is free.
  void use_core(VertexId id, double now);
  void begin_next(Core& core, double now);
  void begin_on_core(VertexId id, double now);
  /// Nothing: all ops have a prediction.
  std::optional<Error> unknown() const;
  /// When a send is complete that leaves its port in [begin, end).
  double accepted(VertexId id, double now, double begin, double end);
  void depart(VertexId id, double now);
  /// Over the links of its route behind the sender's own.
  double pass_links(VertexId id, double now);
  /// Calls use(link) for each link of the message's route on the torus, in its order; on that of
  /// the network, which heeds a way or does not, but knows no names of routes.
  template <class Use>
  void for_route(VertexId send, Use&& use) const;
  LinkId first_link(VertexId send) const;
  void arrive(VertexId id, double now);
  void post(VertexId id);
  void leave(VertexId id, double until);
  /// Whether it finds no room at the node's port; once, then it gets through.
  bool is_lost(VertexId id, double now);
  /// A rank has come to a phase in its node.
  void join_phase(VertexId id, double now);
  /// The message of a receive is there, or the receive is posted: the second completes it.
  void meet(VertexId receive, double now, bool is_message);
  /// When the rank that waits for a message, which is there now, has a core.
  double wake(std::size_t rank, double now);
  void complete(VertexId id, double now);
  void push(double time, VertexId id, Event::Kind kind) {
    events_.push({time, graph_.position(id), id, kind});
  }

  Count bytes(VertexId id) const { return graph_.ops[id].length * unit_bytes_; }
  std::size_t rank(VertexId id) const { return static_cast<std::size_t>(graph_.rank[id]); }
  std::size_t peer(VertexId id) const { return static_cast<std::size_t>(graph_.ops[id].peer); }
  std::size_t node(std::size_t rank) const { return static_cast<std::size_t>(node_of_rank_[rank]); }
  LevelId level(VertexId send) const {
    return node(rank(send)) == node(peer(send)) ? kWithinNode : kBetweenNodes;
  }
  std::size_t port(LevelId level, std::size_t rank) const {
    return level == kWithinNode ? rank : node(rank);
  }

  /// Whether it goes over links of the torus: to another of its hosts.
  bool is_on_torus(VertexId send) const {
    return torus_ != nullptr && level(send) == kBetweenNodes &&
           torus_->host_of(graph_.rank[send]) != torus_->host_of(graph_.ops[send].peer);
  }

  Graph graph_;
  Count unit_bytes_;
  const Machine& machine_;
  std::span<const int> node_of_rank_;
  std::vector<double> met_;  // of receives: kNever, or when the first of two was there
  std::array<const LevelCosts*, kMessageLevels> levels_{};  // those that the machine has
  AllPorts ports_;
  std::minstd_rand random_;         // the same wherever it is asked
  double credit_ = 0;               // seconds, of a port between nodes
  std::vector<double> sent_until_;  // by send, where ports give credit
  std::vector<PortQueue> queues_;   // of nodes; empty where nothing is lost
  std::vector<bool> lost_;          // of sends: once is enough
  std::vector<double> left_;        // by sender and receiver: when the last byte does
  std::vector<Server> cores_;
  std::optional<Meetings> meetings_;     // where the machine has times for them
  const MemoryTimes* memory_ = nullptr;  // messages go through it; null: through the MPI library
  std::vector<VertexId> send_of_;        // by receive, of those
  std::vector<Core> busy_cores_;         // of those
  const TorusPlacement* torus_;          // null: nodes have a port each way
  std::vector<Server> links_;            // of the torus
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::size_t unfinished_;
  double end_ = 0;
  std::vector<double> exits_;
  std::vector<double> awake_;  // of ranks: when the one woken last has its core
};

Walk::Walk(std::span<const Schedule> schedules, Count unit_bytes, const Machine& machine,
           std::span<const int> node_of_rank, bool in_memory, const TorusPlacement* torus)
    : graph_(schedules),
      unit_bytes_(unit_bytes),
      machine_(machine),
      node_of_rank_(node_of_rank),
      met_(graph_.size(), kNever),
      cores_(schedules.size()),
      torus_(torus),
      unfinished_(graph_.size()),
      exits_(schedules.size()),
      awake_(schedules.size(), kNever) {
  if (torus != nullptr) links_.resize(static_cast<std::size_t>(torus->members().torus().links()));
  for (int l = 0; l < kMessageLevels; ++l)
    if (const auto& level = machine.levels[l]) levels_[l] = &*level;
  if (machine.kernels) meetings_.emplace(schedules, graph_, unit_bytes, *machine.kernels);
  const int nodes = 1 + *std::max_element(node_of_rank.begin(), node_of_rank.end());
  const std::vector<Server> of_ranks(schedules.size()), of_nodes(static_cast<std::size_t>(nodes));
  ports_[kWithinNode] = {of_ranks, of_ranks, of_nodes};
  ports_[kBetweenNodes] = {of_nodes, of_nodes, {Server{}}};
  if (machine.credit > 0 && levels_[kBetweenNodes] != nullptr && torus == nullptr) {
    const Cost& gap = levels_[kBetweenNodes]->gap;
    credit_ = gap(static_cast<Count>(machine.credit)) - gap(0);
    sent_until_.resize(graph_.size());
  }
  if (in_memory && machine.node_memory) {
    memory_ = &*machine.node_memory;
    busy_cores_.resize(schedules.size());
    send_of_.assign(graph_.size(), kNoNode);
    for (VertexId id = 0; id < graph_.size(); ++id)
      if (graph_.receive[id] != kNoNode) send_of_[graph_.receive[id]] = id;
  }
  // The switches of a torus are its hosts, which stop whom they have no room for.
  if (!machine.incast.loses() || torus != nullptr) return;
  queues_.assign(static_cast<std::size_t>(nodes),
                 PortQueue(static_cast<std::size_t>(nodes), machine.incast));
  left_.resize(schedules.size() * schedules.size());
  lost_.resize(graph_.size());
}

void Walk::start(VertexId id, double now) {
  switch (graph_.ops[id].kind) {
    case OpKind::send: memory_ != nullptr ? send_in_memory(id, now) : start_send(id, now); break;
    case OpKind::recv: meet(id, now, false); break;
    case OpKind::copy:
    case OpKind::reduce: {
      if (memory_ != nullptr) return use_core(id, now);
      const double seconds = local_seconds(id);
      push(cores_[rank(id)].serve(now, seconds) + seconds, id, Event::complete);
      break;
    }
    case OpKind::join: push(now, id, Event::complete); break;
    case OpKind::library: join_phase(id, now); break;
    case OpKind::enqueue:
    case OpKind::serve:
    case OpKind::multicast:
    case OpKind::recv_multicast: break;  // never complete: nothing is known of them
  }
}

double Walk::local_seconds(VertexId id) const {
  const bool copies = graph_.ops[id].kind == OpKind::copy;
  if (memory_ != nullptr) return (copies ? memory_->copy : memory_->combine)(bytes(id));
  return (copies ? machine_.copy : machine_.gamma) * static_cast<double>(bytes(id));
}

// By stores the sender's core writes it; else it says only where the message is.
void Walk::send_in_memory(VertexId id, double now) {
  if (!memory_->copies_once(bytes(id))) return use_core(id, now);
  const TransferTimes& way = memory_->way(bytes(id));
  push(now + std::max(0.0, way.one_way(bytes(id)) - way.gap(bytes(id))), id, Event::arrive);
}

void Walk::use_core(VertexId id, double now) {
  Core& core = busy_cores_[rank(id)];
  (graph_.ops[id].kind == OpKind::recv ? core.to_read : core.own).push(id);
  if (!core.is_busy) begin_next(core, now);
}

void Walk::begin_next(Core& core, double now) {
  std::queue<VertexId>& first = core.own.empty() ? core.to_read : core.own;
  core.is_busy = !first.empty();
  if (!core.is_busy) return;
  const VertexId id = first.front();
  first.pop();
  begin_on_core(id, now);
}

// What was copied once is its sender's again when he has heard of it.
void Walk::begin_on_core(VertexId id, double now) {
  const OpKind kind = graph_.ops[id].kind;
  if (kind != OpKind::send && kind != OpKind::recv) {
    push(now + local_seconds(id), id, Event::complete);
    return push(now + local_seconds(id), id, Event::release);
  }
  const VertexId send = kind == OpKind::send ? id : send_of_[id];
  const TransferTimes& way = memory_->way(bytes(send));
  const double gap = way.gap(bytes(send)), one_way = way.one_way(bytes(send));
  push(now + gap, id, Event::release);
  if (kind == OpKind::send) {
    push(now + gap, id, Event::complete);
    return push(now + std::max(0.0, one_way - gap), id, Event::arrive);
  }
  const double end = now + std::min(gap, one_way);
  push(end, id, Event::complete);
  if (memory_->copies_once(bytes(send))) push(end + memory_->fence, send, Event::complete);
}

Service Walk::pass(Server& port, LevelId level, double now, double gap) const {
  const bool is_shaped = level == kBetweenNodes && credit_ > 0;
  return port.pass(now, gap, is_shaped ? levels_[level]->gap(0) : gap, is_shaped ? credit_ : 0);
}

void Walk::start_send(VertexId id, double now) {
  const LevelId l = level(id);
  const double gap = levels_[l]->gap(bytes(id));
  Server& out = is_on_torus(id) ? links_[static_cast<std::size_t>(first_link(id))]
                                : ports_[l].out[port(l, rank(id))];
  const auto [begin, end] = pass(out, l, now, gap);
  if (!sent_until_.empty()) sent_until_[id] = end;
  if (l == kWithinNode || queues_.empty()) {
    push(end, id, Event::complete);
    push(begin, id, Event::depart);
    return;
  }
  push(accepted(id, now, begin, end), id, Event::complete);
  post(id);
  push(begin, id, Event::depart);
}

// The operating system takes up to a window of each connection, at once: a send is complete when it
// lies there, and a rank that goes by its sends alone posts all of them.
double Walk::accepted(VertexId id, double now, double begin, double end) {
  double& last = left_[rank(id) * cores_.size() + peer(id)];
  const bool is_idle = last <= now;
  last = end;
  if (is_idle && static_cast<double>(bytes(id)) <= machine_.incast.window) return now;
  const auto window = static_cast<Count>(machine_.incast.window);
  return std::max({now, begin, end - levels_[kBetweenNodes]->gap(window)});
}

// The first byte goes through what all share, and reaches the receiver `gap` before the last.
void Walk::depart(VertexId id, double now) {
  const LevelId l = level(id);
  const LevelCosts& costs = *levels_[l];
  const std::size_t where = l == kWithinNode ? node(rank(id)) : 0;
  const double begin = is_on_torus(id)
                           ? pass_links(id, now)
                           : ports_[l].shared[where].serve(now, costs.shared(bytes(id)));
  const double ahead = costs.one_way(bytes(id)) - costs.gap(bytes(id));
  push(begin + std::max(0.0, ahead), id, Event::arrive);
}

template <class Use>
void Walk::for_route(VertexId send, Use&& use) const {
  const Op& op = graph_.ops[send];
  const bool is_heeded = torus_->routing() == Routing::directed && op.way < kFirstNamedRoute;
  torus_->members().torus().route(torus_->host_of(graph_.rank[send]), torus_->host_of(op.peer),
                                  is_heeded ? Way::numbered(op.way) : Way{}, use);
}

LinkId Walk::first_link(VertexId send) const {
  constexpr LinkId kNone = -1;
  LinkId first = kNone;
  for_route(send, [&](LinkId link) { first = first == kNone ? link : first; });
  return first;
}

double Walk::pass_links(VertexId id, double now) {
  const double gap = levels_[kBetweenNodes]->gap(bytes(id));
  bool is_own = true;
  for_route(id, [&](LinkId link) {
    if (!std::exchange(is_own, false)) now = links_[static_cast<std::size_t>(link)].serve(now, gap);
  });
  return now;
}

void Walk::arrive(VertexId id, double now) {
  if (memory_ != nullptr) {
    if (graph_.receive[id] != kNoNode) meet(graph_.receive[id], now, true);
    return;
  }
  const LevelId l = level(id);
  const LevelCosts& costs = *levels_[l];
  const double gap = costs.gap(bytes(id));
  if (l == kBetweenNodes && is_lost(id, now)) {
    push(now + machine_.incast.timeout, id, Event::arrive);
    return;
  }
  const auto [begin, end] = is_on_torus(id) ? Service{now, now + gap}
                                            : pass(ports_[l].in[port(l, peer(id))], l, now, gap);
  if (l == kBetweenNodes && !queues_.empty()) leave(id, end);
  if (graph_.receive[id] == kNoNode) return;
  const double one_way = costs.one_way(bytes(id));
  double received = end - std::max(0.0, gap - one_way);
  // The last byte arrives no sooner than it has left, however much credit its receiver's port has.
  if (l == kBetweenNodes && !sent_until_.empty())
    received = std::max(received, sent_until_[id] + std::max(0.0, one_way - gap));
  meet(graph_.receive[id], received, true);
}

void Walk::post(VertexId id) {
  queues_[node(peer(id))].post(node(rank(id)), static_cast<double>(bytes(id)));
}

void Walk::leave(VertexId id, double until) {
  queues_[node(peer(id))].leave(node(rank(id)), static_cast<double>(bytes(id)), until);
}

// Until it is sent again it is nobody's way.
bool Walk::is_lost(VertexId id, double now) {
  if (queues_.empty()) return false;
  if (lost_[id]) {
    post(id);
    return false;
  }
  lost_[id] = queues_[node(peer(id))].overflows(now);
  if (lost_[id]) leave(id, now);
  return lost_[id];
}

void Walk::join_phase(VertexId id, double now) {
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): only who has a meeting joins it
  Meeting& meeting = meetings_->of(id);
  meeting.latest = std::max(meeting.latest, now);
  if (--meeting.missing > 0) return;
  for (const VertexId member : meeting.members)
    push(meeting.latest + meeting.seconds, member, Event::complete);
}

// One that has been woken takes all that has come meanwhile.
double Walk::wake(std::size_t rank, double now) {
  if (awake_[rank] >= now) return awake_[rank];
  const double drawn =
      static_cast<double>(random_()) / (static_cast<double>(std::minstd_rand::max()) + 1);
  return awake_[rank] = now - machine_.wake * std::log(1 - drawn);
}

void Walk::meet(VertexId receive, double now, bool is_message) {
  double& met = met_[receive];
  if (met == kNever) {
    met = now;
    return;
  }
  if (memory_ != nullptr) return use_core(receive, now);
  const bool waits = machine_.wake > 0 && (is_message ? now > met : met > now);
  const double there = std::max(met, now);
  push(waits ? wake(rank(receive), there) : there, receive, Event::complete);
}

void Walk::complete(VertexId id, double now) {
  --unfinished_;
  end_ = std::max(end_, now);
  exits_[rank(id)] = now;  // events come in the order of time
  for (const VertexId follower : graph_.followers_of(id))
    if (--graph_.waits_for[follower] == 0) start(follower, now);
}

std::optional<Error> Walk::unknown() const {
  for (VertexId id = 0; id < graph_.size(); ++id) {
    if (graph_.ops[id].is_bound() || graph_.ops[id].kind == OpKind::serve)
      return Error{"what depends on who arrives has no prediction: resolve the schedules first"};
    if (graph_.ops[id].kind == OpKind::library && !(meetings_ && meetings_->hold(id)))
      return Error{"a collective of a group has no prediction: expand the schedule first"};
    if (graph_.ops[id].kind != OpKind::send) continue;
    if (memory_ != nullptr && level(id) != kWithinNode)
      return Error{"the memory of a node reaches no other node"};
    if (memory_ == nullptr && levels_[level(id)] == nullptr)
      return Error{std::string("the machine file has no times for messages ") +
                   (level(id) == kWithinNode ? "within a node" : "between nodes") +
                   ": calibrate with such ranks"};
  }
  return std::nullopt;
}

Result<double> Walk::go(std::span<const double> late, double most) {
  if (auto error = unknown()) return *error;
  std::copy(late.begin(), late.end(), exits_.begin());
  std::vector<VertexId> free;
  for (VertexId id = 0; id < graph_.size(); ++id)
    if (graph_.waits_for[id] == 0) free.push_back(id);
  for (const VertexId id : free)
    if (late.empty())
      start(id, 0);
    else
      push(late[rank(id)], id, Event::begin);
  while (!events_.empty()) {
    const Event event = events_.top();
    if (event.time > most) return std::numeric_limits<double>::infinity();
    events_.pop();
    switch (event.kind) {
      case Event::begin: start(event.id, event.time); break;
      case Event::complete: complete(event.id, event.time); break;
      case Event::depart: depart(event.id, event.time); break;
      case Event::arrive: arrive(event.id, event.time); break;
      case Event::release: begin_next(busy_cores_[rank(event.id)], event.time); break;
    }
  }
  if (unfinished_ > 0)
    return Error{std::to_string(unfinished_) + " ops never start: the schedules do not match"};
  return end_;
}

/// Nothing: the machine has times for such messages.
std::optional<Error> lacks_memory(const Machine& machine, TransportKind transport) {
  if (transport != TransportKind::shm || machine.node_memory) return std::nullopt;
  return Error{
      "the machine file has no times for messages through the memory of a node: calibrate with "
      "two ranks on one"};
}

}  // namespace

std::vector<int> block_placement(int ranks, int nodes) {
  const int per_node = (ranks + nodes - 1) / nodes;
  std::vector<int> node_of_rank(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) node_of_rank[static_cast<std::size_t>(r)] = r / per_node;
  return node_of_rank;
}

Result<double> predict(std::span<const Schedule> schedules, Count unit_bytes,
                       const Machine& machine, std::span<const int> node_of_rank,
                       std::span<const double> late, double most, TransportKind transport,
                       const TorusPlacement* torus) {
  if (auto error = lacks_memory(machine, transport)) return *error;
  const bool in_memory = transport == TransportKind::shm;
  return Walk(schedules, unit_bytes, machine, node_of_rank, in_memory, torus).go(late, most);
}

Result<double> predict(const Algorithm& algorithm, const Problem& problem, const Machine& machine,
                       std::span<const int> node_of_rank) {
  const ArgsOfRanks ranks(problem);
  return predict(build_all(algorithm, ranks.args()), problem.unit_bytes, machine, node_of_rank, {},
                 kNoLimit, problem.params.transport,
                 problem.topology != nullptr ? problem.topology->torus() : nullptr);
}

struct CallSequence::State {
  std::optional<AllPorts> ports;  // nothing: no call has been yet
  std::minstd_rand random;
};

CallSequence::CallSequence(const Machine& machine, std::span<const int> node_of_rank,
                           TransportKind transport, const TorusPlacement* torus)
    : machine_(machine),
      node_of_rank_(node_of_rank),
      transport_(transport),
      torus_(torus),
      state_(std::make_unique<State>()) {}

CallSequence::~CallSequence() = default;

Result<std::vector<double>> CallSequence::next(std::span<const Schedule> schedules,
                                               Count unit_bytes, std::span<const double> arrivals) {
  if (auto error = lacks_memory(machine_, transport_)) return *error;
  const bool in_memory = transport_ == TransportKind::shm;
  Walk walk(schedules, unit_bytes, machine_, node_of_rank_, in_memory, torus_);
  if (state_->ports) walk.set_ports(std::move(*state_->ports));
  walk.set_random(state_->random);
  const auto end = walk.go(arrivals, kNoLimit);
  if (!end) return Error{end.error()};
  state_->random = walk.random();
  state_->ports = std::move(walk.ports());
  return walk.exits();
}

}  // namespace unisono
