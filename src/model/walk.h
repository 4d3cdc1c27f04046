// One call, followed event by event (model/predict.h says by which rules).
#pragma once
#include <array>
#include <optional>
#include <queue>
#include <random>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/graph.h"
#include "model/machine.h"
#include "model/meetings.h"
#include "model/port_queue.h"
#include "model/ports.h"
#include "model/predict.h"
#include "model/shared_cores.h"
#include "topology/topology.h"

namespace unisono {

/// What a call leaves to the next one.
struct LeftOver {
  std::optional<AllPorts> ports;  ///< nothing: no call has been yet
  std::minstd_rand random;        ///< the same wherever it is asked
  SharedCores cores;
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
  /// As the call before has left them. `computing`: for how long each rank has a core when it is
  /// done; empty: for no time.
  void take_over(LeftOver left, std::span<const double> computing);
  void pass_before(const Traffic& traffic);
  LeftOver leave_over() { return {std::move(ports_), random_, std::move(machine_cores_)}; }

 private:
  struct Event {
    enum Kind : std::uint8_t { begin, complete, depart, arrive, release, wake, core };
    double time = 0;
    OpId position = 0;  // in its rank's program: at the same moment earlier ops come first
    VertexId id = 0;
    Kind kind = complete;

    bool operator>(const Event& other) const {
      return std::tie(time, position, id, kind) >
             std::tie(other.time, other.position, other.id, other.kind);
    }
  };

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
  /// Its rank waits for it, and it is there now: the scheduler wakes the rank.
  void rouse(VertexId receive, double now);
  /// The rank takes the message as soon as it has a core.
  void wake(VertexId receive, double now);
  /// A core is free for the first of those that wait for one, or nearly.
  void give_core(double now);
  void give_core_at(double time);
  /// A core is busy with it.
  void handle_message(double now);
  void complete(VertexId id, double now);
  /// A rank has no more to do.
  void leave_call(std::size_t rank, double now);
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
  std::minstd_rand random_;
  SharedCores machine_cores_;
  using Waiting = std::pair<OpId, VertexId>;  // as events come at the same moment
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;  // for a core
  double core_at_ = 0;                 // when the first of them asks again
  std::span<const double> computing_;  // of ranks, when they are done
  std::vector<std::size_t> to_do_;     // of ranks: ops
  double credit_ = 0;                  // seconds, of a port between nodes
  std::vector<double> sent_until_;     // by send, where ports give credit
  std::vector<PortQueue> queues_;      // of nodes; empty where nothing is lost
  std::vector<bool> lost_;             // of sends: once is enough
  std::vector<double> left_;           // by sender and receiver: when the last byte does
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

}  // namespace unisono
