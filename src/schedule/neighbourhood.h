// Who exchanges blocks with whom where a communicator has a topology: of one rank, as that rank
// knows it, and of all.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace unisono {

/// Of one rank. A block for each neighbour, in the order of MPI's topology; a rank may be its own
/// neighbour, and another one several times.
struct Neighbourhood {
  std::vector<std::int32_t> sources;       ///< whose blocks it receives; kNobody: nobody's
  std::vector<std::int32_t> destinations;  ///< who receives its blocks; kNobody: nobody
  /// Of a Cartesian topology: a pair for each dimension, of which each is the other's way back.
  bool in_pairs = false;

  /// Positions of sources in the order in which what a rank sends is received from it: blocks from
  /// one rank match in the order of its destinations, and in a pair what goes one way comes from
  /// the other (MPI-4.1, 8.6).
  std::vector<int> arrival_order() const;
  /// Its blocks to itself: positions in destinations and in sources.
  std::vector<std::pair<int, int>> to_itself(int rank) const;
};

/// Of all ranks. The same on each of them.
class NeighbourGraph {
 public:
  /// A block's way.
  struct Edge {
    int from, to;
    int sent;      ///< position in the destinations of `from`
    int received;  ///< position in the sources of `to`
  };

  explicit NeighbourGraph(std::vector<Neighbourhood> ranks);

  int size() const { return static_cast<int>(ranks_.size()); }
  const Neighbourhood& of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  /// Sorted by `from`, then by `sent`. Blocks that somebody sends and nobody receives are left out.
  std::span<const Edge> edges() const { return edges_; }
  /// Whether there is a way between any two ranks, against the direction of blocks, too.
  bool is_connected() const;
  /// Whether a rank sends several blocks to one other, or to itself.
  bool has_parallel_edges() const;

 private:
  std::vector<Neighbourhood> ranks_;
  std::vector<Edge> edges_;
};

/// MPI_Cart_create's: in each dimension the rank below, then the one above. Ranks are in row-major
/// order.
Neighbourhood cartesian_neighbours(std::span<const int> dims, std::span<const int> periods,
                                   int rank);
NeighbourGraph cartesian_graph(std::span<const int> dims, std::span<const int> periods);
/// Of a stencil: every rank of a periodic grid and all that differ by one at most in every
/// coordinate, without itself; where these are one rank several times, so are the neighbours.
NeighbourGraph moore_graph(std::span<const int> dims);

/// What tools make up: "torus:N", "stencil:N", a periodic grid of N dimensions, as nearly equal as
/// may be; standard: 2.
struct NamedGrid {
  bool is_torus = false;  ///< else a stencil
  std::vector<int> dims;

  static Result<NamedGrid> parse(std::string_view name, int size);
  NeighbourGraph graph() const;
};

}  // namespace unisono
