#include "calls/retained_types.h"

#include <new>

#include "calls/sides.h"
#include "mpi/datatype.h"
#include "mpi/datatype_contents.h"

namespace unisono {

RetainedTypes::RetainedTypes(const Call& call, int rank, int ranks) {
  try {
    retain(call, rank, ranks);
  } catch (...) {
    release();
    throw;
  }
}

RetainedTypes::~RetainedTypes() { release(); }

void RetainedTypes::release() {
  for (MPI_Datatype& hold : holds_) PMPI_Type_free(&hold);
}

void RetainedTypes::retain(const Call& call, int rank, int ranks) {
  if (call.collective == Collective::barrier) return;
  const bool reduces = is_reducing(call.collective);
  const bool sends = !reduces && has_send_side(call, rank);
  const bool receives = reduces || has_receive_side(call, rank);
  if (semantics(call.collective).receive.shape == SideShape::types) {
    if (sends) retain_all(call.sendtypes, call.sendcounts, sent_blocks(call, ranks));
    if (receives) retain_all(call.recvtypes, call.recvcounts, received_blocks(call, ranks));
    return;
  }
  if (sends) retain(call.sendtype);
  if (receives) retain(call.recvtype);
}

// Every MPI library keeps a datatype as long as one that is made of it. A duplicate would run the
// copy functions of the program's attributes, which may fail.
void RetainedTypes::retain(MPI_Datatype type) {
  if (type == last_ || type == MPI_DATATYPE_NULL || envelope_of(type).is_predefined()) return;
  last_ = type;
  if (const int code = check_datatype(type); code != MPI_SUCCESS) error_ = code;
  holds_.push_back(MPI_DATATYPE_NULL);
  if (PMPI_Type_contiguous(1, type, &holds_.back()) == MPI_SUCCESS) return;
  holds_.pop_back();
  throw std::bad_alloc();
}

void RetainedTypes::retain_all(const MPI_Datatype* types, const IntegerArray& counts, int ranks) {
  for (int i = 0; i < ranks; ++i)
    if (counts[i] != 0) retain(types[i]);
}

}  // namespace unisono
