// Keeps the derived datatypes of a call that outlives MPI_Type_free (MPI-4.1, 5.1.9).
#pragma once
#include <mpi.h>

#include <vector>

#include "calls/call.h"

namespace unisono {

/// Whether the datatypes that are significant on this rank are such that a call may name them.
bool names_committed_types(const Call& call, int rank, int ranks);

/// Their handles stay what they are for as long as this object lives.
class RetainedTypes {
 public:
  /// `ranks`: of the communicator, for MPI_Alltoallw. Datatypes of blocks that are empty or not
  /// significant on this rank are not looked at. Throws std::bad_alloc.
  RetainedTypes(const Call& call, int rank, int ranks);
  ~RetainedTypes();
  RetainedTypes(const RetainedTypes&) = delete;
  RetainedTypes& operator=(const RetainedTypes&) = delete;

 private:
  void retain(MPI_Datatype type);
  void release();

  std::vector<MPI_Datatype> holds_;
  MPI_Datatype last_ = MPI_DATATYPE_NULL;
};

}  // namespace unisono
