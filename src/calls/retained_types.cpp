#include "calls/retained_types.h"

#include <algorithm>

#include "calls/sides.h"
#include "mpi/datatype_contents.h"

namespace unisono {

RetainedTypes::RetainedTypes(Call& call, int rank, int ranks) {
  const bool reduces = is_reducing(call.collective);
  if (call.collective == Collective::barrier) return;
  if (call.collective == Collective::alltoallw) {
    if (has_send_side(call, rank)) retain_all(call.sendtypes, ranks, sendtypes_);
    retain_all(call.recvtypes, ranks, recvtypes_);
    return;
  }
  if (reduces) hold_operands(call.recvtype);
  if (!reduces && has_send_side(call, rank)) call.sendtype = retain(call.sendtype);
  if (reduces || has_receive_side(call, rank)) call.recvtype = retain(call.recvtype);
}

RetainedTypes::~RetainedTypes() {
  if (hold_ != MPI_REQUEST_NULL) PMPI_Request_free(&hold_);
  for (MPI_Datatype& type : duplicates_) PMPI_Type_free(&type);
}

// A persistent request that never starts holds it.
void RetainedTypes::hold_operands(MPI_Datatype type) {
  if (envelope_of(type).is_predefined()) return;
  if (PMPI_Recv_init(nullptr, 0, type, 0, 0, MPI_COMM_SELF, &hold_) == MPI_SUCCESS)
    operands_ = type;
}

MPI_Datatype RetainedTypes::retain(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL || envelope_of(type).is_predefined()) return type;
  duplicates_.reserve(duplicates_.size() + 1);  // nothing may fail once there is a duplicate
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  if (PMPI_Type_dup(type, &copy) != MPI_SUCCESS) return type;
  duplicates_.push_back(copy);
  return copy;
}

void RetainedTypes::retain_all(const MPI_Datatype*& types, int ranks,
                               std::vector<MPI_Datatype>& kept) {
  kept.assign(types, types + ranks);
  std::transform(kept.begin(), kept.end(), kept.begin(),
                 [this](MPI_Datatype type) { return retain(type); });
  types = kept.data();
}

}  // namespace unisono
