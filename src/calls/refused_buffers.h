// Buffers for which the MPI library gives an error of its own.
#pragma once
#include "calls/call.h"

namespace unisono {

/// Whether this rank's buffers are such that no MPI program may pass them: null where there are
/// elements at that address; or, in MPICH, whose own check this is, one buffer for both sides of a
/// collective in which all ranks have both. What follows is the MPI library's. Looked at where
/// may_be_refused() only. By value: see calls/signature.h.
[[gnu::noinline, gnu::cold]] bool has_refused_buffers(Call call, int rank, int size);

/// A null pointer, or the same twice.
[[gnu::always_inline]] inline bool may_be_refused(const Call& call) {
  const Semantics& s = semantics(call.collective);
  if (s.measure == Measure::nothing) return false;
  if (call.recvbuf == nullptr) return true;
  if (s.send.shape == SideShape::nothing) return false;
  return call.sendbuf == nullptr || call.sendbuf == call.recvbuf;
}

}  // namespace unisono
