#include "model/walk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace unisono {

Walk::Walk(std::span<const Schedule> schedules, Count unit_bytes, const Machine& machine,
           std::span<const int> node_of_rank, bool in_memory, const TorusPlacement* torus)
    : graph_(schedules),
      unit_bytes_(unit_bytes),
      machine_(machine),
      node_of_rank_(node_of_rank),
      met_(graph_.size(), kNever),
      machine_cores_(machine.shared_cores),
      to_do_(schedules.size()),
      cores_(schedules.size()),
      torus_(torus),
      unfinished_(graph_.size()),
      exits_(schedules.size()),
      awake_(schedules.size(), kNever) {
  for (VertexId id = 0; id < graph_.size(); ++id) ++to_do_[rank(id)];
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
  handle_message(now);
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

void Walk::meet(VertexId receive, double now, bool is_message) {
  double& met = met_[receive];
  if (met == kNever) {
    met = now;
    return;
  }
  if (memory_ != nullptr) return use_core(receive, now);
  const bool waits = is_message ? now > met : met > now;
  const double there = std::max(met, now);
  if (waits && (machine_.wake > 0 || machine_.shared_cores > 0)) return rouse(receive, there);
  push(there, receive, Event::complete);
}

// One that has been woken takes all that has come meanwhile.
void Walk::rouse(VertexId receive, double now) {
  double& awake = awake_[rank(receive)];
  if (awake < now) {
    const double drawn =
        static_cast<double>(random_()) / (static_cast<double>(std::minstd_rand::max()) + 1);
    awake = now - machine_.wake * std::log(1 - drawn);
  }
  push(awake, receive, Event::wake);
}

void Walk::wake(VertexId receive, double now) {
  if (machine_.shared_cores == 0) return push(now, receive, Event::complete);
  const bool is_only = waiting_.empty();
  waiting_.emplace(graph_.position(receive), receive);
  if (is_only)
    give_core(now);
  else if (waiting_.top().second == receive)
    give_core_at(core_at_);
}

void Walk::give_core(double now) {
  const double free = machine_cores_.free_from(now);
  if (free > now) return give_core_at(free);
  const VertexId first = waiting_.top().second;
  waiting_.pop();
  handle_message(now);
  push(now, first, Event::complete);
  if (!waiting_.empty()) give_core_at(machine_cores_.free_from(now));
}

// Only the first asks, or each message would make all others ask again.
void Walk::give_core_at(double time) {
  core_at_ = time;
  push(time, waiting_.top().second, Event::core);
}

// To send or take a message costs a core about what it costs a port without bytes.
void Walk::handle_message(double now) {
  if (machine_.shared_cores == 0) return;
  const LevelCosts* costs =
      levels_[kBetweenNodes] != nullptr ? levels_[kBetweenNodes] : levels_[kWithinNode];
  if (costs != nullptr) machine_cores_.take(now, now + costs->gap(0));
}

void Walk::complete(VertexId id, double now) {
  --unfinished_;
  end_ = std::max(end_, now);
  exits_[rank(id)] = now;  // events come in the order of time
  if (--to_do_[rank(id)] == 0) leave_call(rank(id), now);
  for (const VertexId follower : graph_.followers_of(id))
    if (--graph_.waits_for[follower] == 0) start(follower, now);
}

void Walk::leave_call(std::size_t rank, double now) {
  if (machine_.shared_cores > 0 && !computing_.empty())
    machine_cores_.take(now, now + computing_[rank]);
}

void Walk::take_over(LeftOver left, std::span<const double> computing) {
  if (left.ports) ports_ = std::move(*left.ports);
  random_ = left.random;
  machine_cores_ = std::move(left.cores);
  computing_ = computing;
}

void Walk::pass_before(const Traffic& traffic) {
  if (credit_ == 0) return;
  const std::size_t at = node(static_cast<std::size_t>(traffic.rank));
  const Cost& gap = levels_[kBetweenNodes]->gap;
  Ports& ports = ports_[kBetweenNodes];
  if (traffic.out > 0) pass(ports.out[at], kBetweenNodes, traffic.begin, gap(traffic.out));
  if (traffic.in > 0) pass(ports.in[at], kBetweenNodes, traffic.begin, gap(traffic.in));
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
  for (std::size_t r = 0; r < to_do_.size(); ++r)
    if (to_do_[r] == 0) leave_call(r, exits_[r]);
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
      case Event::wake: wake(event.id, event.time); break;
      case Event::core:  // unless another has become the first, or it has asked already
        if (event.time == core_at_ && !waiting_.empty() && waiting_.top().second == event.id)
          give_core(event.time);
        break;
    }
  }
  if (unfinished_ > 0)
    return Error{std::to_string(unfinished_) + " ops never start: the schedules do not match"};
  return end_;
}

}  // namespace unisono
