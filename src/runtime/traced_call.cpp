#include "runtime/traced_call.h"

#include <algorithm>

#include "mpi/datatype.h"

namespace unisono {

namespace {

using enum Collective;

Count bytes_of(long long count, MPI_Datatype type) {
  return count <= 0 || type == MPI_DATATYPE_NULL ? 0 : count * facts_of(type).size;
}

Count sum(const IntegerArray& counts, int ranks) {
  Count total = 0;
  for (int i = 0; counts && i < ranks; ++i) total += std::max<Count>(0, counts[i]);
  return total;
}

/// Of MPI_Alltoallw.
Count total_bytes(const IntegerArray& counts, const MPI_Datatype* types, int ranks) {
  Count total = 0;
  for (int i = 0; counts && types != nullptr && i < ranks; ++i)
    total += bytes_of(counts[i], types[i]);
  return total;
}

Count traced_bytes(const Call& call, bool at_root, bool in_place, int ranks) {
  switch (call.collective) {
    case barrier: return 0;
    case gather:
      return at_root ? bytes_of(call.recvcount, call.recvtype)
                     : bytes_of(call.sendcount, call.sendtype);
    case gatherv:
      return at_root ? bytes_of(sum(call.recvcounts, ranks), call.recvtype) / ranks
                     : bytes_of(call.sendcount, call.sendtype);
    case scatter:
      return at_root ? bytes_of(call.sendcount, call.sendtype)
                     : bytes_of(call.recvcount, call.recvtype);
    case scatterv:
      return at_root ? bytes_of(sum(call.sendcounts, ranks), call.sendtype) / ranks
                     : bytes_of(call.recvcount, call.recvtype);
    case allgatherv: return bytes_of(sum(call.recvcounts, ranks), call.recvtype) / ranks;
    case alltoallv:
      return (in_place ? bytes_of(sum(call.recvcounts, ranks), call.recvtype)
                       : bytes_of(sum(call.sendcounts, ranks), call.sendtype)) /
             ranks;
    case alltoallw:
      return (in_place ? total_bytes(call.recvcounts, call.recvtypes, ranks)
                       : total_bytes(call.sendcounts, call.sendtypes, ranks)) /
             ranks;
    case reduce_scatter: return bytes_of(sum(call.recvcounts, ranks), call.recvtype);
    case reduce_scatter_block: return bytes_of(call.recvcount, call.recvtype) * ranks;
    default: return bytes_of(call.recvcount, call.recvtype);
  }
}

}  // namespace

void describe(const Call& call, int rank, int others, bool inter, trace::Event& event) {
  const Collective c = call.collective;
  const bool rooted = is_rooted(c);
  const bool at_root = rooted && call.root == (inter ? MPI_ROOT : rank);
  const bool beside = rooted && inter && call.root == MPI_PROC_NULL;  // of the root's group
  const bool scatters = c == scatter || c == scatterv;
  const bool in_place = (scatters ? call.recvbuf : call.sendbuf) == MPI_IN_PLACE;
  event.collective = static_cast<std::uint16_t>(c);
  event.root = rooted && call.root >= 0 ? call.root : -1;
  event.flags = (in_place ? trace::kInPlace : 0U) | (inter ? trace::kInter : 0U);
  if (!beside)
    event.bytes = static_cast<std::uint64_t>(traced_bytes(call, at_root, in_place, others));
}

}  // namespace unisono
