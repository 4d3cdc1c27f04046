// The sub-communicators on which a composed algorithm calls the MPI library's own collectives.
#pragma once
#include <mpi.h>

#include <map>
#include <span>
#include <utility>

#include "schedule/schedule.h"

namespace unisono {

/// The lines of grids that this rank is on, each a communicator, shared by all grids that have it.
/// Made at the first use, freed with the communicator they are of.
class Groups {
 public:
  ~Groups() { free(); }
  Groups() = default;
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

  /// How many of these lines have no communicator yet. The same on all ranks, who give the lines
  /// through rank 0.
  int missing(std::span<const Lattice> lines) const;
  /// Makes them, of a full grid; collective over `comm`. False: not all could be made on this rank,
  /// now or before. The ranks must agree on what follows.
  bool make(MPI_Comm comm, std::span<const Lattice> lines);
  /// The line through this rank. Precondition: made.
  MPI_Comm of(const Lattice& group) const;
  int count() const { return static_cast<int>(lines_.size()); }
  void free();

 private:
  using Line = std::pair<int, int>;  // stride, size
  std::map<Line, MPI_Comm> lines_;
};

/// The collective on its group; `input` and `output` are the addresses of the slices. An MPI error
/// code. Precondition: no count exceeds INT_MAX.
int run_library_call(const LibraryCall& call, const void* input, void* output, MPI_Datatype type,
                     MPI_Op op, MPI_Comm group);

}  // namespace unisono
