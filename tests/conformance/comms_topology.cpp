// Communicators with neighbours: grids with short dimensions, sparse graphs with edges to oneself,
// several edges between two ranks, and ranks without any.
#include <algorithm>
#include <array>

#include "comms.h"

namespace conformance {

namespace {

using Ints = std::vector<int>;

void create_grid(Rng& rng, int size, MPI_Comm base, Communicator* c) {
  int left = static_cast<int>(rng.chance(70) ? size : rng.between(1, size));
  Ints dimensions, periods;
  const auto count = static_cast<std::size_t>(rng.between(1, 3));
  while (dimensions.size() < count) {
    Ints divisors;
    for (int k = 1; k <= left; ++k)
      if (left % k == 0) divisors.push_back(k);
    const int length = dimensions.size() + 1 == count ? left : rng.pick(divisors);
    dimensions.push_back(length);
    periods.push_back(rng.chance(50));
    c->folded = c->folded || (periods.back() != 0 && length <= 2);
    left /= length;
  }
  c->text = "grid of";
  for (std::size_t d = 0; d < count; ++d)
    c->text += (d > 0 ? "x" : " ") + std::to_string(dimensions[d]) + (periods[d] != 0 ? "p" : "");
  MPI_Cart_create(base, static_cast<int>(count), dimensions.data(), periods.data(), rng.chance(50),
                  &c->handle);
}

/// How many edges there are from each rank to each; 0 for most pairs.
std::vector<Ints> random_edges(Rng& rng, int size) {
  const auto p = static_cast<std::size_t>(size);
  std::vector<Ints> edges(p, Ints(p));
  const int density = static_cast<int>(rng.pick({15, 40, 40, 70}));
  for (Ints& row : edges)
    for (int& n : row)
      if (rng.chance(density)) n = rng.chance(20) ? 2 : 1;
  if (rng.chance(30)) {  // somebody has no neighbours
    const auto alone = static_cast<std::size_t>(rng.below(size));
    for (std::size_t r = 0; r < p; ++r) edges[alone][r] = edges[r][alone] = 0;
  }
  return edges;
}

/// MPI asks for edges in both directions here.
void create_graph(Rng& rng, int size, MPI_Comm base, Communicator* c) {
  const int nodes = static_cast<int>(rng.chance(70) ? size : rng.between(1, size));
  const std::vector<Ints> edges = random_edges(rng, nodes);
  Ints index, flat;
  for (std::size_t a = 0; a < edges.size(); ++a) {
    for (std::size_t b = 0; b < edges.size(); ++b)
      for (int k = 0; k < (a < b ? edges[a][b] : edges[b][a]); ++k)
        flat.push_back(static_cast<int>(b));
    index.push_back(static_cast<int>(flat.size()));
  }
  c->text = "graph of " + std::to_string(nodes) + " with " + std::to_string(flat.size()) + " edges";
  flat.push_back(0);  // none at all is no array for some libraries
  MPI_Graph_create(base, nodes, index.data(), flat.data(), rng.chance(50), &c->handle);
}

void create_distributed_graph(Rng& rng, int size, MPI_Comm base, Communicator* c) {
  int rank = 0;
  MPI_Comm_rank(base, &rank);
  const auto me = static_cast<std::size_t>(rank);
  const std::vector<Ints> edges = random_edges(rng, size);
  const bool adjacent = rng.chance(60), weighted = rng.chance(30);
  const int reorder = rng.chance(50);
  const std::vector<int> order = rng.permutation(size);
  // Adjacent: from all who point to it; else every rank tells of the edges of another one.
  Ints sources, destinations, degrees, weights(2 * edges.size() + 1, 1);
  const std::size_t told = adjacent ? me : static_cast<std::size_t>(order[me]);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto other = static_cast<std::size_t>(order[i]);
    for (int k = 0; k < edges[told][other]; ++k) destinations.push_back(order[i]);
    for (int k = 0; adjacent && k < edges[other][me]; ++k) sources.push_back(order[i]);
  }
  const int out = static_cast<int>(destinations.size());
  c->text = "distributed graph";
  if (adjacent) {
    const int in = static_cast<int>(sources.size());
    sources.push_back(0), destinations.push_back(0);
    MPI_Dist_graph_create_adjacent(base, in, sources.data(),
                                   weighted ? weights.data() : MPI_UNWEIGHTED, out,
                                   destinations.data(), weighted ? weights.data() : MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, reorder, &c->handle);
    return;
  }
  const int node = static_cast<int>(told);
  destinations.push_back(0);
  MPI_Dist_graph_create(base, 1, &node, &out, destinations.data(),
                        weighted ? weights.data() : MPI_UNWEIGHTED, MPI_INFO_NULL, reorder,
                        &c->handle);
}

}  // namespace

Neighbours neighbours_of(MPI_Comm comm) {
  Neighbours n;
  int kind = MPI_UNDEFINED, rank = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Topo_test(comm, &kind);
  if (kind == MPI_CART) {
    int dimensions = 0;
    PMPI_Cartdim_get(comm, &dimensions);
    for (int d = 0; d < dimensions; ++d) {
      int before = MPI_PROC_NULL, after = MPI_PROC_NULL;
      PMPI_Cart_shift(comm, d, 1, &before, &after);
      n.sources.insert(n.sources.end(), {before, after});
    }
    n.destinations = n.sources;
  } else if (kind == MPI_GRAPH) {
    int count = 0;
    PMPI_Graph_neighbors_count(comm, rank, &count);
    n.sources.resize(static_cast<std::size_t>(count));
    if (count > 0) PMPI_Graph_neighbors(comm, rank, count, n.sources.data());
    n.destinations = n.sources;
  } else {
    int in = 0, out = 0, weighted = 0;
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    n.sources.resize(static_cast<std::size_t>(in));
    n.destinations.resize(static_cast<std::size_t>(out));
    Ints in_weights(n.sources.size()), out_weights(n.destinations.size());
    PMPI_Dist_graph_neighbors(
        comm, in, n.sources.data(), weighted ? in_weights.data() : MPI_UNWEIGHTED, out,
        n.destinations.data(), weighted ? out_weights.data() : MPI_UNWEIGHTED);
    n.numbered = true;
  }
  return n;
}

Communicator create_topology(Rng& rng, MPI_Comm base) {
  Communicator c;
  c.has_topology = true;
  int size = 1;
  MPI_Comm_size(base, &size);
  switch (rng.below(4)) {
    case 0: create_grid(rng, size, base, &c); break;
    case 1: create_graph(rng, size, base, &c); break;
    default: create_distributed_graph(rng, size, base, &c); break;
  }
  if (c.handle != MPI_COMM_NULL) c.neighbours = neighbours_of(c.handle);
  return c;
}

}  // namespace conformance
