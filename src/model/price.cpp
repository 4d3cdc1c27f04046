#include "model/price.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "schedule/semantics.h"

namespace unisono {

namespace {

constexpr Count kElementBytes = 4;
// Ranks of each node that stand for all of them, where not all are walked through.
constexpr int kMostOfANode = 4;
// As far as ranks were apart in the lab where a ring of leaders met timeouts in most calls, and a
// pairwise exchange, a barrier before the ring, and light barriers met none
// (docs/results/unasked.md).
constexpr double kDriftFactor = 2;
constexpr unsigned kDraws = 4;  // each costs as much as a price

/// Where some ranks are; their nodes are numbered from 0.
struct Placement {
  std::unique_ptr<const Topology> own;
  const Topology* topology = nullptr;

  explicit Placement(const Topology* known) : topology(known) {}
  explicit Placement(std::vector<int> nodes) {
    TopologyLabels labels;
    const auto size = static_cast<int>(nodes.size());
    labels.at(Level::node) = std::move(nodes);
    own = std::make_unique<const Topology>(size, labels);
    topology = own.get();
  }

  const RankPartition& nodes() const { return *topology->at(Level::node); }
  std::vector<int> node_of_rank() const {
    std::vector<int> of(static_cast<std::size_t>(topology->size()));
    for (int r = 0; r < topology->size(); ++r)
      of[static_cast<std::size_t>(r)] = nodes().group_of(r);
    return of;
  }
};

/// An algorithm that is to be walked through, as often as it is asked for.
struct Walked {
  std::vector<Schedule> schedules;  // empty: it cannot serve the call, or is too long
  Count unit_bytes = 1;
  std::vector<int> node_of_rank;
  TransportKind transport = TransportKind::mpi;
  const TorusPlacement* torus = nullptr;
  bool is_too_long = false;

  std::optional<double> seconds(const Machine& machine, std::span<const double> late,
                                double most) const {
    if (is_too_long) return kNoLimit;
    if (schedules.empty()) return std::nullopt;
    const auto said =
        predict(schedules, unit_bytes, machine, node_of_rank, late, most, transport, torus);
    return said ? std::optional(*said) : std::nullopt;
  }
};

/// Of a grid the phases in nodes stay what they are.
Walked walked(const Algorithm& algorithm, const Params& params, const PricedCall& call,
              const Placement& placement) {
  const Problem problem = problem_of(call, params, placement.topology);
  if (!can_serve(algorithm, problem)) return {};
  const ArgsOfRanks ranks(problem);
  Walked all{{},
             problem.unit_bytes,
             placement.node_of_rank(),
             params.transport,
             placement.topology->torus()};
  const Count ops_of_root = std::ssize(build(algorithm, ranks[call.root]).ops());
  all.is_too_long = ops_of_root * call.ranks > kMostWalkedOps;
  if (all.is_too_long) return all;
  if ((algorithm.restrictions & kComposed) == 0)
    all.schedules = build_all(algorithm, ranks.args());
  else
    for (const Args& args : ranks.args()) all.schedules.push_back(build(algorithm, args));
  return all;
}

std::optional<double> walk(const Algorithm& algorithm, const Params& params, const PricedCall& call,
                           const Machine& machine, const Placement& placement, double most) {
  return walked(algorithm, params, call, placement).seconds(machine, {}, most);
}

/// Null: in blocks.
const RankPartition* nodes_of(const PricedCall& call) {
  return call.topology != nullptr ? call.topology->at(Level::node) : nullptr;
}

Placement placement_of(const PricedCall& call) {
  if (nodes_of(call) != nullptr) return Placement(call.topology);
  return Placement(block_placement(call.ranks, call.nodes));
}

/// The first ranks of the first nodes, in their order: at most so many on each.
Placement some_of(const PricedCall& call, int nodes, int most) {
  if (nodes_of(call) == nullptr)
    return Placement(block_placement(nodes * std::clamp(call.ranks / call.nodes, 1, most), nodes));
  const RankPartition& all = *nodes_of(call);
  std::vector<std::pair<int, int>> chosen;  // rank, node
  for (int node = 0; node < nodes; ++node)
    for (int i = 0; i < std::min(all.group(node).size(), most); ++i)
      chosen.emplace_back(all.group(node).rank(i), node);
  std::sort(chosen.begin(), chosen.end());
  std::vector<int> labels;
  for (const auto& [rank, node] : chosen) labels.push_back(node);
  return Placement(std::move(labels));
}

/// The same call on fewer nodes, or fewer ranks of each. A vector keeps its length, and so does a
/// block unless its rank stands for others: then as many bytes go from node to node. All blocks of
/// a vector that is cut stay as long together.
PricedCall on(const PricedCall& call, const Placement& placement, int nodes) {
  PricedCall smaller = call;
  smaller.nodes = placement.nodes().groups();
  smaller.ranks = placement.nodes().size();
  smaller.root = std::min(call.root, smaller.ranks - 1);
  if (semantics(call.collective).measure != Measure::block) return smaller;
  const double stands_for = static_cast<double>(call.ranks) / nodes * smaller.nodes / smaller.ranks;
  const bool each_to_each = call.collective == Collective::alltoall;
  smaller.bytes = std::llround(static_cast<double>(call.bytes) * stands_for *
                               (each_to_each ? stands_for : 1.0));
  return smaller;
}

/// How far ranks are apart: so many times what a port takes for what it holds, or for a message.
double drift_of(const Walked& all, const Machine& machine) {
  auto longest = static_cast<Count>(machine.incast.buffer);
  for (const Schedule& schedule : all.schedules)
    for (const Op& op : schedule.ops())
      if (op.kind == OpKind::send) longest = std::max(longest, op.length * all.unit_bytes);
  const auto& network = machine.levels[kBetweenNodes];
  return network ? kDriftFactor * network->gap(longest) : 0;
}

/// When each rank begins: within `most`, in no order, the same wherever it is asked.
std::vector<double> drifted(std::size_t ranks, double most, unsigned draw) {
  std::minstd_rand random(draw + 1);
  std::vector<double> late(ranks);
  for (double& one : late)
    one = most * static_cast<double>(random()) / static_cast<double>(std::minstd_rand::max());
  return late;
}

/// a + b log2(n) + c n through the values at m, 2 m and 4 m. What grows ever less, as (n - 1) / n
/// does, would be less than nothing somewhere: it grows as from 2 m to 4 m with each doubling.
double continued(double m, const std::array<double, 3>& at, double n) {
  const double c = std::max(0.0, (at[2] - 2 * at[1] + at[0]) / m);
  const double b = c > 0 ? at[1] - at[0] - c * m : at[2] - at[1];
  return std::max(at[2], at[2] + b * std::log2(n / (4 * m)) + c * (n - 4 * m));
}

}  // namespace

bool is_walked_whole(const Algorithm& algorithm, const PricedCall& call) {
  if (call.graph != nullptr) return call.ranks <= kMostWalkedNeighbours;
  const bool needs_all = (algorithm.restrictions & kTorus) != 0;
  return call.ranks <= (needs_all ? kMostWalkedOnTorus : kMostWalkedRanks);
}

bool can_serve(const Algorithm& algorithm, const Problem& problem) {
  const Conditions conditions{.size = problem.size,
                              .commutative = problem.commutative,
                              .messages = true,
                              .topology = problem.topology,
                              .graph = problem.graph != nullptr};
  return !unmet_restriction(algorithm, conditions, problem.params);
}

Problem problem_of(const PricedCall& call, const Params& params, const Topology* topology) {
  Problem problem{.collective = call.collective,
                  .size = call.ranks,
                  .root = call.root,
                  .commutative = call.commutative,
                  .graph = call.graph};
  problem.params = params;
  problem.topology = topology;
  if (is_reducing(call.collective)) problem.unit_bytes = kElementBytes;
  const bool all_blocks = semantics(call.collective).measure == Measure::blocks;
  const Count bytes = all_blocks ? call.bytes / call.ranks : call.bytes;
  // At least a unit, of each block too: nothing would be sent otherwise.
  if (call.bytes > 0) problem.count = std::max<Count>(1, bytes / problem.unit_bytes);
  if (is_irregular(call.collective)) {
    const auto ranks = static_cast<std::size_t>(call.ranks);
    const bool matrix = has_matrix(semantics(call.collective));
    problem.counts.assign(matrix ? ranks * ranks : ranks, problem.count);
  }
  return problem;
}

double risk(const Algorithm& algorithm, const Params& params, const PricedCall& call,
            const Machine& machine, double priced) {
  if (!machine.incast.loses() || !machine.levels[kBetweenNodes]) return 0;
  // Whatever all of them send to each other fits into a port.
  const bool of_blocks = semantics(call.collective).measure == Measure::block;
  const double of_a_rank = static_cast<double>(call.bytes) * (of_blocks ? call.ranks : 1);
  if (of_a_rank * call.ranks <= machine.incast.buffer) return 0;
  const int nodes = nodes_of(call) != nullptr ? nodes_of(call)->groups() : call.nodes;
  const bool is_small = is_walked_whole(algorithm, call);
  const int some_nodes = is_small ? nodes : std::min(nodes, kMostWalkedRanks / kMostOfANode);
  const Placement placement =
      is_small ? placement_of(call) : some_of(call, some_nodes, kMostOfANode);
  const PricedCall asked = is_small ? call : on(call, placement, some_nodes);
  const Walked all = walked(algorithm, params, asked, placement);
  const double together = is_small ? priced : all.seconds(machine, {}, kNoLimit).value_or(priced);
  const double drift = drift_of(all, machine);
  double lost = 0;
  for (unsigned draw = 0; draw < kDraws; ++draw) {
    const auto seconds = all.seconds(machine, drifted(all.schedules.size(), drift, draw), kNoLimit);
    const double more = seconds.value_or(0) - together - drift;
    // Whatever is not a timeout is what being late costs anybody.
    if (more > machine.incast.timeout / 2) lost += more;
  }
  return lost / kDraws;
}

std::optional<double> price(const Algorithm& algorithm, const Params& params,
                            const PricedCall& call, const Machine& machine, double most) {
  if ((algorithm.restrictions & kOneNode) != 0) return std::nullopt;
  const int nodes = nodes_of(call) != nullptr ? nodes_of(call)->groups() : call.nodes;
  if (params.transport == TransportKind::shm && (nodes > 1 || !machine.node_memory))
    return std::nullopt;
  const bool is_small = is_walked_whole(algorithm, call);
  if (call.graph != nullptr && !is_small) return std::nullopt;
  if (is_small) return walk(algorithm, params, call, machine, placement_of(call), most);
  if (nodes < 4) {
    const Placement some = some_of(call, nodes, kMostWalkedRanks / nodes);
    return walk(algorithm, params, on(call, some, nodes), machine, some, most);
  }
  const int of_a_node = std::clamp(call.ranks / nodes, 1, kMostOfANode);
  const int least = std::min(nodes / 4, kMostWalkedRanks / (4 * of_a_node));
  std::array<double, 3> at{};
  for (std::size_t i = 0; i < at.size(); ++i) {
    const Placement some = some_of(call, least << i, of_a_node);
    const auto seconds = walk(algorithm, params, on(call, some, nodes), machine, some, most);
    if (!seconds || *seconds > most) return seconds;
    at[i] = *seconds;
  }
  return continued(least, at, nodes);
}

}  // namespace unisono
