// Buffers for which the MPI library gives an error of its own.
#pragma once
#include <cstdint>

#include "calls/call.h"
#include "mpi/datatype.h"

namespace unisono {

/// Whether this rank's buffers are such that no MPI program may pass them: null where there are
/// elements at that address; or, in MPICH, whose own check this is, one buffer for both sides of a
/// collective in which all ranks have both. What follows is the MPI library's. Looked at where
/// may_be_refused() only. By value: see calls/signature.h.
[[gnu::noinline, gnu::cold]] bool has_refused_buffers(Call call, int rank, int size);

/// The same of shares_block(), and of MPI_IN_PLACE for a receive buffer that is not used: MPICH
/// refuses these on the rank that sees them. Where it was built without such checks, that rank must
/// not be alone in the MPI library.
[[gnu::noinline, gnu::cold]] bool has_refused_block(Call call);
[[gnu::noinline, gnu::cold]] bool is_unused_place_refused();

/// Whether this rank's block of what it gathers or scatters is the buffer of its other side.
/// Precondition: both sides are significant.
[[gnu::always_inline]] inline bool shares_block(const Call& call, int rank) {
  const Semantics& s = semantics(call.collective);
  const bool gathers = is_per_peer(s.receive.shape);
  if (s.is_reducing() || s.peers != Peers::all || gathers == is_per_peer(s.send.shape))
    return false;
  const void* const whole = gathers ? call.recvbuf : call.sendbuf;
  const void* const block = gathers ? call.sendbuf : call.recvbuf;
  const IntegerArray& displs = gathers ? call.rdispls : call.sdispls;
  const bool irregular = is_irregular(gathers ? s.receive.shape : s.send.shape);
  if (irregular && !displs) return false;
  const long long at =
      irregular ? displs[rank] : rank * (gathers ? call.recvcount : call.sendcount);
  const Count bytes = at * facts_of(gathers ? call.recvtype : call.sendtype).size;
  return reinterpret_cast<std::uintptr_t>(block) ==
         reinterpret_cast<std::uintptr_t>(whole) + static_cast<std::uintptr_t>(bytes);
}

/// A null pointer, or the same twice.
[[gnu::always_inline]] inline bool may_be_refused(const Call& call) {
  const Semantics& s = semantics(call.collective);
  if (s.measure == Measure::nothing) return false;
  if (call.recvbuf == nullptr) return true;
  if (s.send.shape == SideShape::nothing) return false;
  return call.sendbuf == nullptr || call.sendbuf == call.recvbuf;
}

}  // namespace unisono
