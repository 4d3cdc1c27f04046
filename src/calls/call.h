// A blocking collective as the program called it: the entry points fill one in, the rest reads it.
#pragma once
#include <mpi.h>

#include "schedule/collective.h"
#include "schedule/neighbourhood.h"

namespace unisono {

/// Counts or displacements of a v-collective: int in the plain forms, MPI_Count or MPI_Aint in the
/// large-count (_c) forms, which both have 64 bits.
class IntegerArray {
 public:
  IntegerArray() = default;
  IntegerArray(const int* values) : values_(values) {}
  IntegerArray(const long* values) : values_(values), wide_(true) {}
  IntegerArray(const long long* values) : values_(values), wide_(true) {}

  explicit operator bool() const { return values_ != nullptr; }
  /// The same array, not equal values.
  bool is(const IntegerArray& other) const { return values_ == other.values_; }
  long long operator[](int i) const {
    return wide_ ? static_cast<const long long*>(values_)[i] : static_cast<const int*>(values_)[i];
  }

 private:
  const void* values_ = nullptr;
  bool wide_ = false;
};

/// Parameters a collective does not have keep these values. Bcast's buffer is recvbuf, with
/// recvcount and recvtype; reductions use recvcount and recvtype for count and datatype (and
/// recvcounts for MPI_Reduce_scatter).
struct Call {
  Collective collective = Collective::barrier;
  const void* sendbuf = nullptr;
  long long sendcount = 0;
  IntegerArray sendcounts, sdispls;
  MPI_Datatype sendtype = MPI_DATATYPE_NULL;
  const MPI_Datatype* sendtypes = nullptr;  // MPI_Alltoallw
  void* recvbuf = nullptr;
  long long recvcount = 0;
  IntegerArray recvcounts, rdispls;
  MPI_Datatype recvtype = MPI_DATATYPE_NULL;
  const MPI_Datatype* recvtypes = nullptr;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  /// Of a collective among neighbours, once somebody has looked them up: with whom blocks are
  /// exchanged.
  const Neighbourhood* neighbours = nullptr;
};

/// The same call, for a function that takes one by value and is rarely called. Field by field: for
/// a copy of the whole the compiler would keep every call in memory, on the fast path too.
[[gnu::always_inline]] inline Call rebuilt(const Call& call) {
  return {.collective = call.collective,
          .sendbuf = call.sendbuf,
          .sendcount = call.sendcount,
          .sendcounts = call.sendcounts,
          .sdispls = call.sdispls,
          .sendtype = call.sendtype,
          .sendtypes = call.sendtypes,
          .recvbuf = call.recvbuf,
          .recvcount = call.recvcount,
          .recvcounts = call.recvcounts,
          .rdispls = call.rdispls,
          .recvtype = call.recvtype,
          .recvtypes = call.recvtypes,
          .op = call.op,
          .root = call.root,
          .comm = call.comm,
          .neighbours = call.neighbours};
}

}  // namespace unisono
