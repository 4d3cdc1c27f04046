// Keeps the derived datatypes of a call that outlives MPI_Type_free (MPI-4.1, 5.1.9).
#pragma once
#include <mpi.h>

#include <vector>

#include "calls/call.h"

namespace unisono {

/// The call gets duplicates in place of its derived datatypes, which live as long as this object.
class RetainedTypes {
 public:
  /// `ranks`: of the communicator, for MPI_Alltoallw. Datatypes that are not significant on this
  /// rank must be MPI_DATATYPE_NULL or valid.
  RetainedTypes(Call& call, int rank, int ranks);
  ~RetainedTypes();
  RetainedTypes(const RetainedTypes&) = delete;
  RetainedTypes& operator=(const RetainedTypes&) = delete;

  /// Of a reduction: what the program named, with which its own operation must be called. It lives
  /// as long as this object, but nothing else may be asked of it. MPI_DATATYPE_NULL: the call's.
  MPI_Datatype operands() const { return operands_; }

 private:
  void hold_operands(MPI_Datatype type);
  MPI_Datatype retain(MPI_Datatype type);
  void retain_all(const MPI_Datatype*& types, int ranks, std::vector<MPI_Datatype>& kept);

  std::vector<MPI_Datatype> duplicates_;
  std::vector<MPI_Datatype> sendtypes_, recvtypes_;
  MPI_Datatype operands_ = MPI_DATATYPE_NULL;
  MPI_Request hold_ = MPI_REQUEST_NULL;
};

}  // namespace unisono
