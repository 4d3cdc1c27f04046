// What all ranks know of a call: decisions depend on this alone.
#pragma once
#include <algorithm>
#include <limits>

#include "algorithms/catalogue.h"

namespace unisono {

/// What all ranks know of a call.
struct Facts {
  Collective collective = Collective::barrier;
  int size = 1;
  /// Of the signature: the vector (bcast, reduce, allreduce, scan, exscan), one block (gather,
  /// scatter, allgather, alltoall; allgatherv: the mean), all blocks (reduce_scatter, _block); 0
  /// for the other irregular ones, of which no rank knows all counts.
  Count bytes = 0;
  bool commutative = true;
  int nodes = 1;  ///< that the ranks are on; counts in profiles and online
  /// May run through the shared memory of a node: all ranks are on one, which has room for them,
  /// and its kernels know the operation.
  bool shared = false;
  /// Messages may go through the shared memory of a node: all ranks are on one that has it.
  bool messages = false;
  /// Of the communicator; null unless reads_topology().
  const Topology* topology = nullptr;
  const NeighbourGraph* graph = nullptr;  ///< of a collective among neighbours
  /// Phases of a grid may run through the memory of nodes: the ranks are on several, of which some
  /// has several of them, these share memory, and elements have no gaps.
  bool kernels_in_nodes = false;
  bool multicast = false;  ///< between the nodes, as far as anybody knows
  /// The bits of the result depend on the order in which contributions are combined.
  bool order_matters = false;
};

/// What an algorithm's restrictions are judged by.
constexpr Conditions conditions(const Facts& facts) {
  return {facts.size,     facts.commutative,      facts.shared, facts.messages,
          facts.topology, facts.graph != nullptr, facts.nodes,  facts.multicast};
}

/// Of signatures; empty unless said otherwise.
struct ByteRange {
  Count least = std::numeric_limits<Count>::max(), most = -1;

  static constexpr ByteRange all() { return {0, std::numeric_limits<Count>::max()}; }
  bool is_empty() const { return least > most; }
  bool holds(Count bytes) const { return bytes >= least && bytes <= most; }
  void include(Count from, Count to) {
    least = std::min(least, from);
    most = std::max(most, to);
  }
};

}  // namespace unisono
