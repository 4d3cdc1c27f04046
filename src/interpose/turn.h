// Whether the MPI library's own waits come by (turn.cpp).
#pragma once

namespace unisono {

/// Whether a wait of the MPI library has called ucp_worker_progress: then its waits give their core
/// away by themselves.
bool waits_turn() noexcept;

}  // namespace unisono
