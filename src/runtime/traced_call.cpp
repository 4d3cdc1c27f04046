#include "runtime/traced_call.h"

#include <algorithm>

#include "mpi/datatype.h"

namespace unisono {

namespace {

Count bytes_of(long long count, MPI_Datatype type) {
  return count <= 0 || type == MPI_DATATYPE_NULL ? 0 : count * facts_of(type).size;
}

Count sum(const IntegerArray& counts, int ranks) {
  Count total = 0;
  for (int i = 0; counts && i < ranks; ++i) total += std::max<Count>(0, counts[i]);
  return total;
}

/// Of one block of a side, or the mean over `peers` blocks.
Count block_bytes(SideShape shape, long long count, const IntegerArray& counts, MPI_Datatype type,
                  const MPI_Datatype* types, int peers) {
  if (!is_irregular(shape)) return bytes_of(count, type);
  if (peers == 0) return 0;
  if (shape == SideShape::counts) return bytes_of(sum(counts, peers), type) / peers;
  Count total = 0;
  for (int i = 0; counts && types != nullptr && i < peers; ++i)
    total += bytes_of(counts[i], types[i]);
  return total / peers;
}

/// Reductions describe all their data by the receive side's parameters.
Count reduced_bytes(const Call& call, SideShape shape, int ranks) {
  if (is_irregular(shape)) return bytes_of(sum(call.recvcounts, ranks), call.recvtype);
  return bytes_of(call.recvcount, call.recvtype) * (is_per_peer(shape) ? ranks : 1);
}

/// Of a side that is significant: what each peer has a block of, as far as one rank knows it.
bool is_told_by_send_side(const Semantics& s, bool at_root, bool in_place) {
  if (has_one_buffer(s) || in_place) return s.in_place == InPlace::root_receive;
  if (s.rooted) return at_root == (s.send.who == Who::root);
  return is_irregular(s.send.shape);
}

Count traced_bytes(const Call& call, bool at_root, bool in_place, const PeerCounts& peers) {
  const Semantics& s = semantics(call.collective);
  if (s.measure == Measure::nothing) return 0;
  if (s.is_reducing()) return reduced_bytes(call, s.send.shape, peers.to);
  if (is_told_by_send_side(s, at_root, in_place))
    return block_bytes(s.send.shape, call.sendcount, call.sendcounts, call.sendtype, call.sendtypes,
                       peers.to);
  return block_bytes(s.receive.shape, call.recvcount, call.recvcounts, call.recvtype,
                     call.recvtypes, peers.from);
}

}  // namespace

void describe(const Call& call, int rank, const TracedCommunicator& comm, trace::Event& event) {
  const Semantics& s = semantics(call.collective);
  const bool at_root = s.rooted && call.root == (comm.inter ? MPI_ROOT : rank);
  const bool beside = s.rooted && comm.inter && call.root == MPI_PROC_NULL;  // of the root's group
  const bool in_place =
      (s.in_place == InPlace::root_receive ? call.recvbuf : call.sendbuf) == MPI_IN_PLACE;
  event.collective = static_cast<std::uint16_t>(call.collective);
  event.root = s.rooted && call.root >= 0 ? call.root : -1;
  event.flags = (in_place ? trace::kInPlace : 0U) | (comm.inter ? trace::kInter : 0U);
  const PeerCounts all{comm.others, comm.others};
  const PeerCounts& peers = s.peers == Peers::all ? all : comm.neighbours;
  if (!beside)
    event.bytes = static_cast<std::uint64_t>(traced_bytes(call, at_root, in_place, peers));
}

}  // namespace unisono
