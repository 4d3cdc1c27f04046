#include "network/limits.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#include <limits>
#include <map>
#include <set>

namespace unisono {

namespace {

constexpr double kMuch = std::numeric_limits<double>::infinity();

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
struct Vertex {
  boost::default_color_type color{};
  long distance = 0;
  Traits::edge_descriptor predecessor;
};
struct Edge {
  double capacity = 0, residual = 0;
  Traits::edge_descriptor reverse;
};
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, Vertex, Edge>;

/// Links are full duplex, so that the reverse edge that the algorithm wants is the link back.
Graph graph_of(const Network& network) {
  Graph graph(static_cast<std::size_t>(network.vertices()));
  std::map<std::pair<int, int>, Traits::edge_descriptor> edges;
  for (const NetworkLink& link : network.links()) {
    if (!link.exists()) continue;
    const auto edge = boost::add_edge(static_cast<std::size_t>(link.from),
                                      static_cast<std::size_t>(link.to), graph);
    graph[edge.first].capacity = link.bandwidth;
    edges[{link.from, link.to}] = edge.first;
    const auto back = edges.find({link.to, link.from});
    if (back == edges.end()) continue;
    graph[edge.first].reverse = back->second;
    graph[back->second].reverse = edge.first;
  }
  return graph;
}

double max_flow(Graph& graph, int from, int to) {
  return boost::boykov_kolmogorov_max_flow(
      graph, boost::get(&Edge::capacity, graph), boost::get(&Edge::residual, graph),
      boost::get(&Edge::reverse, graph), boost::get(&Vertex::predecessor, graph),
      boost::get(&Vertex::color, graph), boost::get(&Vertex::distance, graph),
      boost::get(boost::vertex_index, graph), static_cast<std::size_t>(from),
      static_cast<std::size_t>(to));
}

/// Links that routes begin with, or end with, at one member.
struct EndLinks {
  std::set<int> first, last;
};

double bandwidth(const Network& network, const std::set<int>& links) {
  double sum = 0;
  for (const int link : links) sum += network.links()[static_cast<std::size_t>(link)].bandwidth;
  return sum;
}

}  // namespace

FlowLimit flow_limit(const Network& network, std::span<const int> members, int root) {
  FlowLimit limit{kMuch, kMuch};
  Graph graph = graph_of(network);
  for (const int member : members) {
    if (member == root) continue;
    limit.from_root = std::min(limit.from_root, max_flow(graph, root, member));
    limit.to_root = std::min(limit.to_root, max_flow(graph, member, root));
  }
  return limit;
}

RouteLimit route_limit(const Network& network, std::span<const int> members, int root,
                       std::span<const std::uint8_t> ways) {
  std::map<int, EndLinks> ends;
  std::vector<int> links;
  for (const int from : members)
    for (const int to : members)
      for (const std::uint8_t way : ways) {
        if (from == to) continue;
        links.clear();
        network.route(from, to, way, links);
        ends[from].first.insert(links.front());
        ends[to].last.insert(links.back());
      }
  RouteLimit limit{bandwidth(network, ends[root].first), bandwidth(network, ends[root].last), kMuch,
                   kMuch, 0};
  for (const int member : members) {
    const double received = bandwidth(network, ends[member].last);
    limit.all_receive += received;
    if (member == root) continue;
    limit.least_received = std::min(limit.least_received, received);
    limit.least_sent = std::min(limit.least_sent, bandwidth(network, ends[member].first));
  }
  return limit;
}

}  // namespace unisono
