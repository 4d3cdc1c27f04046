// A set of communicators of all kinds, freed and made anew while the program runs.
#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "random.h"

namespace conformance {

/// Whom a rank receives from and sends to in collectives among neighbours, in the order of their
/// blocks. MPI_PROC_NULL: nobody, and the block is not touched.
struct Neighbours {
  std::vector<int> sources, destinations;
  /// Of a graph: blocks to and from one neighbour may be drawn one by one.
  bool numbered = false;
};

struct Communicator {
  MPI_Comm handle = MPI_COMM_NULL;  ///< MPI_COMM_NULL: this rank is not a member
  bool owned = true;
  bool inter = false;
  int colour = 0;  ///< tells apart the communicators that one collective creation made
  std::string text;
  // Alike on all ranks of `base`.
  bool has_topology = false;
  bool folded =
      false;  ///< a grid in which a ring of one or two ranks makes both sides one neighbour
  Neighbours neighbours;
};

class Communicators {
 public:
  /// Collective over `base`, like everything that changes the set. `mixed`: many with topologies.
  Communicators(std::uint64_t seed, MPI_Comm base, bool mixed);
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  /// Frees one communicator and makes another in its place.
  void replace_one(std::uint64_t epoch);
  const Communicator& operator[](std::size_t i) const { return all_[i]; }
  std::size_t size() const { return all_.size(); }

 private:
  Communicator create(Rng& rng) const;

  std::uint64_t seed_;
  MPI_Comm base_;
  bool mixed_;
  std::vector<Communicator> all_;
};

/// What the library tells of a topology.
Neighbours neighbours_of(MPI_Comm comm);
/// Cartesian, graph or distributed graph.
Communicator create_topology(Rng& rng, MPI_Comm base);

}  // namespace conformance
