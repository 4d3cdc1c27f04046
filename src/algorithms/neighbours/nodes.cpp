// By nodes: what the ranks of one node send to those of another goes in one message. For each other
// node that its ranks exchange data with, a node has an agent, another one of its ranks each time
// as far as they reach: blocks go to the agent, from there to the other node's agent for this one,
// and from there to their receivers; within a node they go at once. A block that several ranks of a
// node want crosses once. Three phases; between two nodes 1 message instead of as many as there are
// edges, and in an allgather as few bytes as there can be; T = 2 d (alpha_n + beta_n b) + D (alpha
// + beta B), where a node exchanges B bytes with each of D others and d of its edges end there. Any
// topology; counts of a rank's own are exchanged before. Source: the three steps of Bienz, Gropp,
// Olson, Node aware sparse matrix-vector multiplication (2019).
#include <algorithm>
#include <set>

#include "algorithms/algorithms.h"
#include "patterns/relay.h"
#include "topology/topology.h"

namespace unisono::neighbours {

namespace {

class Agents {
 public:
  Agents(const NeighbourGraph& graph, const RankPartition& nodes)
      : nodes_(nodes), others_(static_cast<std::size_t>(nodes.groups())) {
    std::vector<std::set<int>> found(others_.size());
    for (const NeighbourGraph::Edge& edge : graph.edges()) {
      const int from = nodes.group_of(edge.from), to = nodes.group_of(edge.to);
      if (from == to) continue;
      found[static_cast<std::size_t>(from)].insert(to);
      found[static_cast<std::size_t>(to)].insert(from);
    }
    for (std::size_t i = 0; i < found.size(); ++i)
      others_[i].assign(found[i].begin(), found[i].end());
  }

  std::vector<int> way(const NeighbourGraph::Edge& edge) const {
    const int from = nodes_.group_of(edge.from), to = nodes_.group_of(edge.to);
    if (from == to) return {edge.from, edge.to, edge.to, edge.to};
    return {edge.from, agent(from, to), agent(to, from), edge.to};
  }

 private:
  int agent(int of, int with) const {
    const auto& others = others_[static_cast<std::size_t>(of)];
    const auto which = std::lower_bound(others.begin(), others.end(), with) - others.begin();
    const RankGroup& ranks = nodes_.group(of);
    return ranks.rank(static_cast<int>(which) % ranks.size());
  }

  const RankPartition& nodes_;
  std::vector<std::vector<int>> others_;  // by node, ascending
};

}  // namespace

void nodes(Builder& b) {
  const std::vector<int> one_node(static_cast<std::size_t>(b.size()));
  const RankPartition alone(one_node);
  const Topology* topology = b.args().topology;
  const RankPartition* known = topology != nullptr ? topology->at(Level::node) : nullptr;
  const Agents agents(*b.args().graph, known != nullptr ? *known : alone);
  relay(b, [&](const NeighbourGraph::Edge& edge) { return agents.way(edge); });
}

}  // namespace unisono::neighbours
