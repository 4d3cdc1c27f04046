// The 17 collectives as the bench sees them: one table of who gives what, who gets what, how the
// function is called and what it must deliver.
#pragma once
#include <mpi.h>

#include "schedule/collective.h"
#include "tools/bench/values.h"

namespace unisono::bench {

class Cell;

/// The functions of an MPI library, or of what is placed over it.
struct Mpi {
  decltype(&MPI_Barrier) barrier;
  decltype(&MPI_Bcast) bcast;
  decltype(&MPI_Gather) gather;
  decltype(&MPI_Gatherv) gatherv;
  decltype(&MPI_Scatter) scatter;
  decltype(&MPI_Scatterv) scatterv;
  decltype(&MPI_Allgather) allgather;
  decltype(&MPI_Allgatherv) allgatherv;
  decltype(&MPI_Alltoall) alltoall;
  decltype(&MPI_Alltoallv) alltoallv;
  decltype(&MPI_Alltoallw) alltoallw;
  decltype(&MPI_Reduce) reduce;
  decltype(&MPI_Allreduce) allreduce;
  decltype(&MPI_Reduce_scatter_block) reduce_scatter_block;
  decltype(&MPI_Reduce_scatter) reduce_scatter;
  decltype(&MPI_Scan) scan;
  decltype(&MPI_Exscan) exscan;
};

/// MPI_X, as a program calls it: Unisono's.
extern const Mpi kProgram;
/// PMPI_X: the MPI library's own, whatever lies over it.
extern const Mpi kLibrary;

enum class Part { none, block, all };  ///< of the p blocks that make up the data
enum class Holder { root, every };

/// What an output block must hold: the combined contributions of some ranks, from an element on.
struct Expected {
  Ranks ranks;
  Count start = 0;
};

struct CollectiveCall {
  Collective collective;
  Part input;
  Holder input_holder;
  Part output;
  Holder output_holder;
  /// No rank can leave a call before all have entered it, so that calls one after the other do not
  /// overlap by more than their ends.
  bool synchronises;
  bool has_in_place;
  /// Block `block` of the output of this rank.
  Expected (*expected)(const Cell& cell, int block);
  int (*call)(const Cell& cell, const Mpi& mpi);
};

const CollectiveCall& call_of(Collective collective);

}  // namespace unisono::bench
