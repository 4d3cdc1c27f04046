// How many bytes a call is about.
#pragma once
#include <optional>

#include "calls/call.h"
#include "calls/refused_buffers.h"
#include "calls/sides.h"
#include "mpi/datatype.h"

namespace unisono {

// Arrays by value: a call whose address goes to a function that is not inlined would be in memory,
// and its collective no constant any more.
namespace signature {

inline bool valid(long long count, MPI_Datatype type) {
  return count >= 0 && type != MPI_DATATYPE_NULL;
}

inline bool valid(IntegerArray counts, int size) {
  if (!counts) return false;
  for (int i = 0; i < size; ++i)
    if (counts[i] < 0) return false;
  return true;
}

/// Counts of blocks, and where these are: no matter where if they are all empty.
inline bool valid(IntegerArray counts, IntegerArray displs, int size) {
  if (!valid(counts, size)) return false;
  if (displs) return true;
  for (int i = 0; i < size; ++i)
    if (counts[i] > 0) return false;
  return true;
}

/// A block of nothing may have no datatype.
inline bool valid(IntegerArray counts, const MPI_Datatype* types, int size) {
  if (types == nullptr) return false;
  for (int i = 0; i < size; ++i)
    if (counts[i] > 0 && types[i] == MPI_DATATYPE_NULL) return false;
  return true;
}

/// One side of a call: what a rank says of a buffer.
[[gnu::always_inline]] inline bool valid(SideShape shape, long long count, IntegerArray counts,
                                         IntegerArray displs, MPI_Datatype type,
                                         const MPI_Datatype* types, int size) {
  switch (shape) {
    case SideShape::nothing: return true;
    case SideShape::block:
    case SideShape::blocks: return valid(count, type);
    case SideShape::counts: return valid(counts, displs, size) && type != MPI_DATATYPE_NULL;
    case SideShape::types: return valid(counts, displs, size) && valid(counts, types, size);
  }
  return false;
}

inline Count sum(IntegerArray counts, int size) {
  Count total = 0;
  for (int i = 0; i < size; ++i) total += counts[i];
  return total;
}

/// Of a reduction: all ranks give the same counts and datatype.
[[gnu::always_inline]] inline std::optional<Count> reduced_bytes(const Call& call, int size) {
  const SideShape shape = semantics(call.collective).send.shape;
  if (is_irregular(shape) && !valid(call.recvcounts, size)) return std::nullopt;
  const long long count = is_irregular(shape) ? sum(call.recvcounts, size)
                                              : call.recvcount * (is_per_peer(shape) ? size : 1);
  if (!valid(count, call.recvtype)) return std::nullopt;
  return count * facts_of(call.recvtype).size;
}

}  // namespace signature

/// Bytes that this rank sends of its own block, or gets of one; where lengths are one for all
/// blocks, or the block is its own.
[[gnu::always_inline]] inline Count sent_bytes(const Call& call) {
  return call.sendcount * facts_of(call.sendtype).size;
}
[[gnu::always_inline]] inline Count received_bytes(const Call& call, int rank) {
  const bool is_own = is_irregular(semantics(call.collective).receive.shape);
  return (is_own ? call.recvcounts[rank] : call.recvcount) * facts_of(call.recvtype).size;
}

/// Whether this rank says that its block to itself has one length where it sends it, and another
/// where it receives it. MPI forbids that, and the MPI libraries often do what was meant. Of
/// collectives in which it knows both, whose arguments are valid otherwise.
[[gnu::always_inline]] inline bool has_two_lengths(const Call& call, int rank) {
  const Semantics& s = semantics(call.collective);
  if (s.is_reducing() || s.peers != Peers::all || s.knows_bytes != Who::all) return false;
  if (s.send.shape == SideShape::nothing) return false;
  if (!has_send_side(call, rank) || !has_receive_side(call, rank)) return false;
  if (!is_irregular(s.receive.shape) && call.sendcount == call.recvcount &&
      call.sendtype == call.recvtype)
    return false;
  return sent_bytes(call) != received_bytes(call, rank);
}

/// Whether the block that this rank gives to all ranks is shorter than all receive it, as MPI
/// forbids. MPI libraries put it into the receive buffer, and send what stands there then. Of calls
/// whose arguments are valid otherwise.
[[gnu::always_inline]] inline bool has_shorter_block(const Call& call, int rank) {
  const Semantics& s = semantics(call.collective);
  if (s.is_reducing() || s.peers != Peers::all || s.send.shape != SideShape::block) return false;
  if (s.receive.who != Who::all || !is_per_peer(s.receive.shape)) return false;
  return !is_in_place(call, rank) && sent_bytes(call) < received_bytes(call, rank);
}

/// Whether blocks have one length to other ranks and another one from them, which in a graph may be
/// right on each edge, and only some ranks see it.
[[gnu::always_inline]] inline bool has_edges_of_two_lengths(const Call& call, int rank) {
  const Semantics& s = semantics(call.collective);
  return s.peers == Peers::neighbours && s.knows_bytes == Who::all && has_send_side(call, rank) &&
         has_receive_side(call, rank) && sent_bytes(call) != received_bytes(call, rank);
}

/// Bytes of the signature of one call, as in select's Facts. Nothing when the arguments are such
/// that the MPI library should judge them (a negative count, no such root, ...), or when there is
/// no such number that all ranks know. Looks at the parameters that are significant on this rank,
/// and at them only. Inline, because the entry points know the collective: what is left of it there
/// are a few instructions.
[[gnu::always_inline]] inline std::optional<Count> signature_bytes(const Call& call, int rank,
                                                                   int size) {
  const Semantics& s = semantics(call.collective);
  if (s.rooted && (call.root < 0 || call.root >= size)) return std::nullopt;
  if (s.measure == Measure::nothing) return 0;
  // Rank 0 receives nothing of those before it, and may pass any address.
  const bool is_first = s.combines == Combines::ranks_before && rank == 0;
  if (call.recvbuf == MPI_IN_PLACE && has_receive_side(call, rank)) [[unlikely]]
    if (!is_first || is_unused_place_refused()) return std::nullopt;
  if (call.sendbuf == MPI_IN_PLACE && has_send_side(call, rank)) return std::nullopt;
  if (may_be_refused(call)) [[unlikely]]
    if (has_refused_buffers(rebuilt(call), rank, size)) return std::nullopt;
  if (s.is_reducing()) return signature::reduced_bytes(call, size);
  const bool sends = has_send_side(call, rank), receives = has_receive_side(call, rank);
  if (sends && !signature::valid(s.send.shape, call.sendcount, call.sendcounts, call.sdispls,
                                 call.sendtype, call.sendtypes, sent_blocks(call, size)))
    return std::nullopt;
  if (receives && !signature::valid(s.receive.shape, call.recvcount, call.recvcounts, call.rdispls,
                                    call.recvtype, call.recvtypes, received_blocks(call, size)))
    return std::nullopt;
  if (sends && receives && shares_block(call, rank)) [[unlikely]]
    if (has_refused_block(rebuilt(call))) return std::nullopt;
  // A root that alone receives copies its block alone, and the others need not wait for it.
  if (s.receive.who != Who::root && has_two_lengths(call, rank)) [[unlikely]]
    if (!has_shorter_block(call, rank)) return std::nullopt;
  if (s.knows_bytes != Who::all || (!sends && !receives)) return 0;
  if (!receives) return sent_bytes(call);
  const Count unit = facts_of(call.recvtype).size;
  // Of the sum: what is divided must be equal on all ranks, and their types need not be.
  if (is_irregular(s.receive.shape)) return signature::sum(call.recvcounts, size) * unit / size;
  if (has_edges_of_two_lengths(call, rank)) return std::nullopt;
  return call.recvcount * unit;
}

}  // namespace unisono
