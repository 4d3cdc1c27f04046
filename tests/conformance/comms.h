// A set of communicators of all kinds, freed and made anew while the program runs.
#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "random.h"

namespace conformance {

struct Communicator {
  MPI_Comm handle = MPI_COMM_NULL;  ///< MPI_COMM_NULL: this rank is not a member
  bool owned = true;
  bool inter = false;
  int colour = 0;  ///< tells apart the communicators that one collective creation made
  std::string text;
};

class Communicators {
 public:
  /// Collective over MPI_COMM_WORLD, like everything that changes the set.
  explicit Communicators(std::uint64_t seed);
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
  std::vector<Communicator> all_;
};

}  // namespace conformance
