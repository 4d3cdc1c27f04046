#include "calls/retained_types.h"

#include <new>

#include "calls/sides.h"
#include "mpi/datatype.h"
#include "mpi/datatype_contents.h"

namespace unisono {

namespace {

/// with(type) for each datatype that is significant on this rank.
template <class With>
void for_types(const Call& call, int rank, int ranks, With with) {
  if (call.collective == Collective::barrier) return;
  const bool reduces = is_reducing(call.collective);
  const bool sends = !reduces && has_send_side(call, rank);
  const bool receives = reduces || has_receive_side(call, rank);
  if (semantics(call.collective).receive.shape != SideShape::types) {
    if (sends) with(call.sendtype);
    if (receives) with(call.recvtype);
    return;
  }
  const auto for_blocks = [&with](const MPI_Datatype* types, const IntegerArray& counts, int n) {
    for (int i = 0; i < n; ++i)
      if (counts[i] != 0) with(types[i]);
  };
  if (sends) for_blocks(call.sendtypes, call.sendcounts, sent_blocks(call, ranks));
  if (receives) for_blocks(call.recvtypes, call.recvcounts, received_blocks(call, ranks));
}

}  // namespace

bool names_committed_types(const Call& call, int rank, int ranks) {
  bool all = true;
  for_types(call, rank, ranks, [&all](MPI_Datatype type) {
    all = all && (type == MPI_DATATYPE_NULL || facts_of(type).committed);
  });
  return all;
}

RetainedTypes::RetainedTypes(const Call& call, int rank, int ranks) {
  try {
    for_types(call, rank, ranks, [this](MPI_Datatype type) { retain(type); });
  } catch (...) {
    release();
    throw;
  }
}

RetainedTypes::~RetainedTypes() { release(); }

void RetainedTypes::release() {
  for (MPI_Datatype& hold : holds_) PMPI_Type_free(&hold);
}

// Every MPI library keeps a datatype as long as one that is made of it. A duplicate would run the
// copy functions of the program's attributes, which may fail.
void RetainedTypes::retain(MPI_Datatype type) {
  if (type == last_ || type == MPI_DATATYPE_NULL || envelope_of(type).is_predefined()) return;
  last_ = type;
  holds_.push_back(MPI_DATATYPE_NULL);
  if (PMPI_Type_contiguous(1, type, &holds_.back()) == MPI_SUCCESS) return;
  holds_.pop_back();
  throw std::bad_alloc();
}

}  // namespace unisono
