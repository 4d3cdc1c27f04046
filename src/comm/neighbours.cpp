#include "comm/neighbours.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "comm/placement.h"
#include "mpi/comm.h"
#include "mpi/patience.h"

namespace unisono {

namespace {

/// With an address even if there are none, which some MPI libraries want.
std::vector<int> room_for(int count) {
  std::vector<int> numbers;
  numbers.reserve(static_cast<std::size_t>(count) + 1);
  numbers.resize(static_cast<std::size_t>(count));
  return numbers;
}

// Blocks, all ranks together: 16 MB on each rank.
constexpr std::size_t kMostEdges = std::size_t{1} << 20;

int topology_of(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  return PMPI_Topo_test(comm, &kind) == MPI_SUCCESS ? kind : MPI_UNDEFINED;
}

struct Cartesian {
  explicit Cartesian(MPI_Comm comm) {
    int n = 0;
    PMPI_Cartdim_get(comm, &n);
    dims = room_for(n), periods = room_for(n);
    std::vector<int> here = room_for(n);
    PMPI_Cart_get(comm, n, dims.data(), periods.data(), here.data());
  }
  std::vector<int> dims, periods;
};

/// Some MPI libraries take the wrong block of several from one rank (MPI-4.1, 8.6): in a grid,
/// whose periodic dimensions of one or two ranks have one neighbour on both sides, Open MPI's
/// nonblocking forms and all of Intel MPI's; anywhere, MPICH before 5.0.2 (its pull requests 4902,
/// 5777, 7945). A program must not get the one from the library and the other from Unisono.
bool library_mixes_up_blocks_of_one_rank(int kind) {
#ifndef OPEN_MPI
  const std::string library = library_line();
  if (flavour_of(library) != "intel") {
    int major = 0, minor = 0, patch = 0;
    std::sscanf(library.c_str(), "MPICH Version: %d.%d.%d", &major, &minor, &patch);
    return std::tuple(major, minor, patch) < std::tuple(5, 0, 2);
  }
#endif
  return kind == MPI_CART;
}

/// MPI_Graph_create's. Every rank knows it all.
std::vector<Neighbourhood> general_graph(MPI_Comm comm) {
  int ranks = 0, edges = 0;
  PMPI_Graphdims_get(comm, &ranks, &edges);
  std::vector<int> ends = room_for(ranks), all = room_for(edges);
  PMPI_Graph_get(comm, ranks, edges, ends.data(), all.data());
  std::vector<Neighbourhood> found(ends.size());
  int begin = 0;
  for (std::size_t r = 0; r < ends.size(); begin = ends[r++])
    found[r].sources.assign(all.begin() + begin, all.begin() + ends[r]);
  for (Neighbourhood& one : found) one.destinations = one.sources;
  return found;
}

Neighbourhood named_by(MPI_Comm comm) {
  int from = 0, to = 0, weighted = 0;
  PMPI_Dist_graph_neighbors_count(comm, &from, &to, &weighted);
  Neighbourhood own;
  own.sources = room_for(from), own.destinations = room_for(to);
  // Not MPI_UNWEIGHTED, which some libraries do not take where there are weights.
  std::vector<int> from_weights = room_for(from), to_weights = room_for(to);
  PMPI_Dist_graph_neighbors(comm, from, own.sources.data(), from_weights.data(), to,
                            own.destinations.data(), to_weights.data());
  for (auto* ranks : {&own.sources, &own.destinations})
    std::replace(ranks->begin(), ranks->end(), static_cast<std::int32_t>(MPI_PROC_NULL),
                 std::int32_t{kNobody});
  return own;
}

/// Collective. Empty: they are too many.
std::vector<Neighbourhood> told_by_all(MPI_Comm comm) {
  const Neighbourhood own = named_by(comm);
  const auto p = static_cast<std::size_t>(size_of(comm));
  const std::array mine{static_cast<int>(own.sources.size()),
                        static_cast<int>(own.destinations.size())};
  const std::vector<int> degrees = gather_patiently(mine, comm);
  if (std::find(degrees.begin(), degrees.end(), -1) != degrees.end()) return {};  // not all told
  if (std::accumulate(degrees.begin(), degrees.end(), std::size_t{0}) > 2 * kMostEdges) return {};
  std::vector<int> places(p);
  int total = 0;
  for (std::size_t r = 0; r < p; ++r)
    places[r] = std::exchange(total, total + degrees[2 * r] + degrees[2 * r + 1]);
  std::vector<int> all(static_cast<std::size_t>(total), INT_MIN);
  const auto here = all.begin() + places[static_cast<std::size_t>(rank_in(comm))];
  std::copy(own.destinations.begin(), own.destinations.end(),
            std::copy(own.sources.begin(), own.sources.end(), here));
  if (reduce_patiently(std::span(all), MPI_MAX, comm) != MPI_SUCCESS) return {};
  std::vector<Neighbourhood> found(p);
  for (std::size_t r = 0; r < p; ++r) {
    const auto begin = all.begin() + places[r], middle = begin + degrees[2 * r];
    found[r].sources.assign(begin, middle);
    found[r].destinations.assign(middle, middle + degrees[2 * r + 1]);
  }
  return found;
}

}  // namespace

std::optional<Neighbourhood> neighbours_of(MPI_Comm comm) {
  switch (topology_of(comm)) {
    case MPI_CART: {
      const Cartesian grid(comm);
      return cartesian_neighbours(grid.dims, grid.periods, rank_in(comm));
    }
    case MPI_GRAPH: return general_graph(comm)[static_cast<std::size_t>(rank_in(comm))];
    case MPI_DIST_GRAPH: return named_by(comm);
    default: return std::nullopt;
  }
}

bool every_rank_knows_all(MPI_Comm comm) { return topology_of(comm) != MPI_DIST_GRAPH; }

std::unique_ptr<const NeighbourGraph> graph_of(MPI_Comm comm) {
  std::unique_ptr<const NeighbourGraph> graph;
  const int kind = topology_of(comm);
  if (kind == MPI_CART) {
    const Cartesian grid(comm);
    const auto edges = 2 * grid.dims.size() * static_cast<std::size_t>(size_of(comm));
    if (edges <= kMostEdges)
      graph = std::make_unique<const NeighbourGraph>(cartesian_graph(grid.dims, grid.periods));
  } else if (kind == MPI_GRAPH || kind == MPI_DIST_GRAPH) {
    auto ranks = kind == MPI_GRAPH ? general_graph(comm) : told_by_all(comm);
    if (!ranks.empty()) graph = std::make_unique<const NeighbourGraph>(std::move(ranks));
  }
  if (graph == nullptr || !graph->is_connected()) return nullptr;
  if (library_mixes_up_blocks_of_one_rank(kind) && graph->has_parallel_edges()) return nullptr;
  return graph;
}

TorusHosts hosts_of_cart(MPI_Comm comm, Routing routing) {
  if (topology_of(comm) != MPI_CART || size_of(comm) < 2) return {};
  const Cartesian grid(comm);
  TorusHosts hosts{
      std::make_shared<const Torus>(std::vector(grid.dims.rbegin(), grid.dims.rend()),
                                    std::vector<bool>(grid.periods.rbegin(), grid.periods.rend())),
      routing, std::vector<int>(static_cast<std::size_t>(size_of(comm)))};
  std::iota(hosts.of_rank.begin(), hosts.of_rank.end(), 0);
  return hosts;
}

}  // namespace unisono
