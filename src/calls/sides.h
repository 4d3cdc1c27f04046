// Which parameters of a call are significant on a rank. Inline, because the entry points know the
// collective.
#pragma once
#include "calls/call.h"

namespace unisono {

inline constexpr CollectiveSet kAllToAll =
    set_of(Collective::alltoall, Collective::alltoallv, Collective::alltoallw);
inline constexpr CollectiveSet kScatters = set_of(Collective::scatter, Collective::scatterv);
inline constexpr CollectiveSet kGathers = set_of(Collective::gather, Collective::gatherv);
inline constexpr CollectiveSet kAllgathers = set_of(Collective::allgather, Collective::allgatherv);

/// Whether MPI_IN_PLACE was given on this rank. Where none is allowed the pointer is not
/// significant.
[[gnu::always_inline]] inline bool is_in_place(const Call& call, int rank) {
  const Collective c = call.collective;
  const bool root = rank == call.root;
  if (c == Collective::barrier || c == Collective::bcast) return false;
  if (contains(kScatters, c)) return root && call.recvbuf == MPI_IN_PLACE;
  const bool significant = root || !(contains(kGathers, c) || c == Collective::reduce);
  return significant && call.sendbuf == MPI_IN_PLACE;
}

/// Whether what a call that only moves data says of its send and receive side is significant on
/// this rank: buffer, count and datatype, apart from the place that MPI_IN_PLACE stands for.
[[gnu::always_inline]] inline bool has_send_side(const Call& call, int rank) {
  if (call.collective == Collective::bcast) return false;
  if (contains(kScatters, call.collective)) return rank == call.root;
  return !is_in_place(call, rank);
}
[[gnu::always_inline]] inline bool has_receive_side(const Call& call, int rank) {
  if (contains(kGathers, call.collective)) return rank == call.root;
  return !(contains(kScatters, call.collective) && is_in_place(call, rank));
}

/// Whether that side is a block for each rank.
inline bool sends_blocks(const Call& call, int rank) {
  return contains(kAllToAll, call.collective) ||
         (contains(kScatters, call.collective) && rank == call.root);
}
inline bool receives_blocks(const Call& call, int rank) {
  return contains(kAllToAll | kAllgathers, call.collective) ||
         (contains(kGathers, call.collective) && rank == call.root);
}

}  // namespace unisono
