#include "mpi/argument_checks.h"

#include <mpi.h>

#include <map>
#include <mutex>

#include "mpi/private_communicator.h"

namespace unisono {

namespace {

/// Such a call of this rank alone: an MPI error code.
int make_wrong_call(Collective collective, MPI_Comm self) {
  using enum Collective;
  const int one = 1, here = 0;
  const MPI_Datatype type = MPI_INT;
  int numbers[2] = {}, *const at = numbers;
  switch (collective) {
    case gather: return PMPI_Gather(at, 1, type, at, 1, type, 0, self);
    case gatherv: return PMPI_Gatherv(at, 1, type, at, &one, &here, type, 0, self);
    case scatter: return PMPI_Scatter(at, 1, type, at, 1, type, 0, self);
    case scatterv: return PMPI_Scatterv(at, &one, &here, type, at, 1, type, 0, self);
    case allgather: return PMPI_Allgather(at, 1, type, at, 1, type, self);
    case allgatherv: return PMPI_Allgatherv(at, 1, type, at, &one, &here, type, self);
    case reduce: return PMPI_Reduce(at, at, 1, type, MPI_SUM, 0, self);
    case allreduce: return PMPI_Allreduce(at, at, 2, type, MPI_SUM, self);
    case exscan: return PMPI_Exscan(at, MPI_IN_PLACE, 1, type, MPI_SUM, self);
    default: return MPI_SUCCESS;
  }
}

}  // namespace

bool refuses_one_buffer(Collective collective) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::map<Collective, bool>;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(collective); found != known.end()) return found->second;
  MPI_Comm self = private_self();
  if (self == MPI_COMM_NULL) return false;
  const bool refuses = make_wrong_call(collective, self) != MPI_SUCCESS;
  PMPI_Comm_free(&self);
  return known[collective] = refuses;
}

}  // namespace unisono
