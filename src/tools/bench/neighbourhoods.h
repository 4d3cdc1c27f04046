// A communicator with a topology, for collectives among neighbours.
#pragma once
#include <mpi.h>

#include <string_view>

#include "schedule/neighbourhood.h"

namespace unisono::bench {

/// A NamedGrid of all ranks: a torus by MPI_Cart_create, a stencil by
/// MPI_Dist_graph_create_adjacent.
class Neighbourhoods {
 public:
  /// What is wrong with the name is thrown as std::runtime_error. Collective.
  explicit Neighbourhoods(std::string_view name);
  ~Neighbourhoods();
  Neighbourhoods(const Neighbourhoods&) = delete;
  Neighbourhoods& operator=(const Neighbourhoods&) = delete;

  MPI_Comm comm() const { return comm_; }
  const NeighbourGraph& graph() const { return graph_; }

 private:
  NamedGrid grid_;
  NeighbourGraph graph_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace unisono::bench
