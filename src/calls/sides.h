// Which parameters of a call are significant on a rank. Inline, because the entry points know the
// collective.
#pragma once
#include "calls/call.h"

namespace unisono {

/// Whether MPI_IN_PLACE was given on this rank. Where none is allowed the pointer is not
/// significant.
[[gnu::always_inline]] inline bool is_in_place(const Call& call, int rank) {
  switch (semantics(call.collective).in_place) {
    case InPlace::nowhere: return false;
    case InPlace::root_send: return rank == call.root && call.sendbuf == MPI_IN_PLACE;
    case InPlace::root_receive: return rank == call.root && call.recvbuf == MPI_IN_PLACE;
    case InPlace::all:
    case InPlace::each: return call.sendbuf == MPI_IN_PLACE;
  }
  return false;
}

/// Whether what a call that only moves data says of its send and receive side is significant on
/// this rank: buffer, count and datatype, apart from the place that MPI_IN_PLACE stands for.
[[gnu::always_inline]] inline bool has_send_side(const Call& call, int rank) {
  const Semantics& s = semantics(call.collective);
  if (s.send.shape == SideShape::nothing) return false;
  if (s.send.who == Who::root) return rank == call.root;
  if (call.neighbours != nullptr && call.neighbours->destinations.empty()) return false;
  return !is_in_place(call, rank);
}
[[gnu::always_inline]] inline bool has_receive_side(const Call& call, int rank) {
  const Semantics& s = semantics(call.collective);
  if (call.neighbours != nullptr && call.neighbours->sources.empty()) return false;
  if (s.receive.who != Who::all) return s.receive.who == Who::root && rank == call.root;
  return !(s.in_place == InPlace::root_receive && is_in_place(call, rank));
}

/// Whether that side is a block for each peer, and how many there are; `size`: ranks of the
/// communicator.
inline bool sends_blocks(const Call& call, int rank) {
  const CallSide& side = semantics(call.collective).send;
  return is_per_peer(side.shape) && (side.who == Who::all || rank == call.root);
}
inline bool receives_blocks(const Call& call, int rank) {
  const CallSide& side = semantics(call.collective).receive;
  return is_per_peer(side.shape) && (side.who == Who::all || rank == call.root);
}
inline int sent_blocks(const Call& call, int size) {
  return call.neighbours != nullptr ? static_cast<int>(call.neighbours->destinations.size()) : size;
}
inline int received_blocks(const Call& call, int size) {
  return call.neighbours != nullptr ? static_cast<int>(call.neighbours->sources.size()) : size;
}

}  // namespace unisono
