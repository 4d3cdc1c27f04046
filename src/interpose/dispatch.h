// Where an interposed call goes: to Unisono's runtime, or on to the MPI library.
#pragma once
#include <atomic>
#include <optional>

#include "calls/call_info.h"
#include "runtime/call_scope.h"

namespace unisono {

/// A bit per collective: whether Unisono may have anything to do in it. The first thing an entry
/// point looks at, so that a call that is passed on costs a load and a branch.
extern std::atomic<CollectiveSet> g_candidates;

inline bool is_candidate(Collective c) {
  return contains(g_candidates.load(std::memory_order_relaxed), c);
}

/// Beside the collectives in g_candidates: somebody watches, so that calls go another way.
inline constexpr CollectiveSet kWatched = CollectiveSet{1} << 31;

inline bool is_watched() { return (g_candidates.load(std::memory_order_relaxed) & kWatched) != 0; }

/// Runs the call that was looked at and is not left, if Unisono is to run it: then the MPI error
/// code. Nothing: the caller hands it to the MPI library.
std::optional<int> decide(const Call& call, const CallInfo& info, CallScope& scope);
/// The same for every call that was looked at and has not run on the fast path. Inlined: calls that
/// are left to the MPI library end here.
[[gnu::always_inline]] inline std::optional<int> dispatch(const Call& call, const CallInfo& info,
                                                          CallScope& scope) {
  if (is_left(call, info)) return std::nullopt;
  return decide(call, info, scope);
}
/// The same for a call that is watched and has not been looked at.
std::optional<int> dispatch(const Call& call, CallScope& scope);

/// Starts a nonblocking collective, if Unisono is to run it: then the MPI error code. Nothing: the
/// caller hands it to the MPI library.
std::optional<int> start(const Call& call, MPI_Request* request);

/// The same for a persistent one, which is made. `info`: hints, which may differ between the ranks.
std::optional<int> make_persistent(const Call& call, MPI_Info info, MPI_Request* request);

/// Makes g_candidates what the engine says.
void set_candidates();

/// After MPI_Init(_thread) succeeded on MPI_COMM_WORLD, and when MPI_Finalize begins.
void on_init();
void on_finalize();
/// Before a session is made: its threads may call collectives on its communicators while another
/// calls one on the world's.
void on_session();

}  // namespace unisono
