// Where the ranks of one node meet without keeping a core busy: a barrier in shared memory.
#pragma once
#include <mpi.h>

#include <memory>

#include "node/segment.h"
#include "node/team.h"

namespace unisono::bench {

class Meeting {
 public:
  /// Collective over `comm`, whose ranks are on one node; null on all ranks where one of them has
  /// no shared memory.
  static std::unique_ptr<Meeting> make(MPI_Comm comm);

  Meeting(node::Segment&& segment, MPI_Comm comm);

  void barrier();

 private:
  node::Segment segment_;
  MPI_Comm comm_;
  node::Team team_;
};

}  // namespace unisono::bench
