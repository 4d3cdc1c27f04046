// How many bytes a call is about.
#pragma once
#include <optional>

#include "calls/call.h"
#include "mpi/datatype.h"

namespace unisono {

namespace signature {

inline bool valid(long long count, MPI_Datatype type) {
  return count >= 0 && type != MPI_DATATYPE_NULL;
}

inline bool valid(const IntegerArray& counts, int size) {
  if (!counts) return false;
  for (int i = 0; i < size; ++i)
    if (counts[i] < 0) return false;
  return true;
}

/// Counts of blocks, and where these are: no matter where if they are all empty.
inline bool valid(const IntegerArray& counts, const IntegerArray& displs, int size) {
  if (!valid(counts, size)) return false;
  if (displs) return true;
  for (int i = 0; i < size; ++i)
    if (counts[i] > 0) return false;
  return true;
}

inline Count sum(const IntegerArray& counts, int size) {
  Count total = 0;
  for (int i = 0; i < size; ++i) total += counts[i];
  return total;
}

}  // namespace signature

/// Bytes of the signature of one call, as in select's Facts. Nothing when the arguments are such
/// that the MPI library should judge them (a negative count, no such root, ...). Looks at the
/// parameters that are significant on this rank, and at them only. Inline, because the entry points
/// know the collective: what is left of it there are a few instructions.
[[gnu::always_inline]] inline std::optional<Count> signature_bytes(const Call& call, int rank,
                                                                   int size) {
  using enum Collective;
  using signature::sum, signature::valid;
  const Collective c = call.collective;
  if (is_rooted(c) && (call.root < 0 || call.root >= size)) return std::nullopt;
  const bool root = rank == call.root;
  const bool in_place = call.sendbuf == MPI_IN_PLACE;
  const auto bytes_of = [](long long count, MPI_Datatype type) -> std::optional<Count> {
    if (!valid(count, type)) return std::nullopt;
    return count * facts_of(type).size;
  };
  switch (c) {
    case barrier: return 0;
    case gather:
      if (root && !valid(call.recvcount, call.recvtype)) return std::nullopt;
      return root && in_place ? bytes_of(call.recvcount, call.recvtype)
                              : bytes_of(call.sendcount, call.sendtype);
    case scatter:
      if (root && !valid(call.sendcount, call.sendtype)) return std::nullopt;
      return root ? bytes_of(call.sendcount, call.sendtype)
                  : bytes_of(call.recvcount, call.recvtype);
    case gatherv:
      if (root &&
          !(valid(call.recvcounts, call.rdispls, size) && call.recvtype != MPI_DATATYPE_NULL))
        return std::nullopt;
      if (!(root && in_place) && !valid(call.sendcount, call.sendtype)) return std::nullopt;
      return 0;
    case scatterv:
      if (root &&
          !(valid(call.sendcounts, call.sdispls, size) && call.sendtype != MPI_DATATYPE_NULL))
        return std::nullopt;
      if (!(root && call.recvbuf == MPI_IN_PLACE) && !valid(call.recvcount, call.recvtype))
        return std::nullopt;
      return 0;
    case alltoallv:
      if (!valid(call.recvcounts, call.rdispls, size) || call.recvtype == MPI_DATATYPE_NULL)
        return std::nullopt;
      if (!in_place &&
          !(valid(call.sendcounts, call.sdispls, size) && call.sendtype != MPI_DATATYPE_NULL))
        return std::nullopt;
      return 0;
    case alltoallw:
      if (!valid(call.recvcounts, call.rdispls, size) || call.recvtypes == nullptr)
        return std::nullopt;
      if (!in_place && !(valid(call.sendcounts, call.sdispls, size) && call.sendtypes != nullptr))
        return std::nullopt;
      return 0;
    case allgatherv:
      if (!valid(call.recvcounts, call.rdispls, size)) return std::nullopt;
      if (!in_place && !valid(call.sendcount, call.sendtype)) return std::nullopt;
      // Of the sum: what is divided must be equal on all ranks, and their types need not be.
      if (const auto all = bytes_of(sum(call.recvcounts, size), call.recvtype)) return *all / size;
      return std::nullopt;
    case reduce_scatter:
      if (!valid(call.recvcounts, size)) return std::nullopt;
      return bytes_of(sum(call.recvcounts, size), call.recvtype);
    case reduce_scatter_block: return bytes_of(call.recvcount * size, call.recvtype);
    case allgather:
    case alltoall:
      if (!in_place && !valid(call.sendcount, call.sendtype)) return std::nullopt;
      return bytes_of(call.recvcount, call.recvtype);
    default: return bytes_of(call.recvcount, call.recvtype);
  }
}

}  // namespace unisono
