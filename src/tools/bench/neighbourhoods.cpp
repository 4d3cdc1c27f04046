#include "tools/bench/neighbourhoods.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "mpi/comm.h"

namespace unisono::bench {

namespace {

NamedGrid grid_named(std::string_view name) {
  const auto grid = NamedGrid::parse(name, size_of(MPI_COMM_WORLD));
  if (!grid) throw std::runtime_error("--neighbours " + grid.error());
  return *grid;
}

}  // namespace

Neighbourhoods::Neighbourhoods(std::string_view name)
    : grid_(grid_named(name)), graph_(grid_.graph()) {
  if (grid_.is_torus) {
    const std::vector<int> periods(grid_.dims.size(), 1);
    MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(periods.size()), grid_.dims.data(),
                    periods.data(), 0, &comm_);
    return;
  }
  const auto& [sources, destinations, in_pairs] = graph_.of(rank_in(MPI_COMM_WORLD));
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(),
                                 MPI_UNWEIGHTED, static_cast<int>(destinations.size()),
                                 destinations.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm_);
}

Neighbourhoods::~Neighbourhoods() { MPI_Comm_free(&comm_); }

}  // namespace unisono::bench
