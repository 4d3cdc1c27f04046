// The first look at a call: most that Unisono leaves to the MPI library, it leaves here.
#pragma once
#include "calls/signature.h"
#include "comm/communicator.h"

namespace unisono {

/// What a look has found; false: the MPI library runs the call, and all ranks see that alike.
struct CallInfo {
  Communicator* communicator = nullptr;
  Count bytes = 0;  ///< of the signature
  bool failed = false;
  /// This rank alone leaves the call, but only after it has made with the others what they share
  /// (leave_now()): by that they see that it does not come.
  bool leaves = false;

  explicit operator bool() const { return communicator != nullptr || failed; }
};

/// Calls that were looked at and left to the MPI library, at the first look or later; and calls
/// that Unisono ran.
extern constinit std::atomic<unsigned long long> g_native_calls, g_own_calls;

/// signature_bytes() of a call among neighbours: 0 before its communicator knows that all ranks see
/// the same (Communicator::graph).
std::optional<Count> bytes_among_neighbours(Call call, Communicator& communicator);

/// This rank leaves a call to the MPI library, for what it alone may see of it: one that the MPI
/// library is expected to refuse, or one that it runs and Unisono cannot, with all that follows.
[[gnu::noinline, gnu::cold]] CallInfo leave(Call call, Communicator& communicator);
/// The same at once, of a call with two lengths.
void leave_now(Communicator& communicator);

/// Inlined into every entry point, where the collective is known and what the call is made of is in
/// registers.
[[gnu::always_inline]] inline CallInfo info_of(const Call& call) {
  try {
    if (Communicator* communicator = Communicator::of(call.comm)) {
      communicator->attendance().begin_call();
      // Between two groups other arguments are significant: where nobody is served, none is read.
      const ByteRange& reach = communicator->reach(call.collective);
      const auto bytes = reach.is_empty() ? std::nullopt
                         : is_among_neighbours(call.collective)
                             ? bytes_among_neighbours(rebuilt(call), *communicator)
                             : signature_bytes(call, communicator->rank(), communicator->size());
      const bool is_open = is_among_neighbours(call.collective) && !communicator->knows_graph();
      if (bytes && (is_open || reach.holds(*bytes))) return {communicator, *bytes};
      if (!bytes && !reach.is_empty()) return leave(rebuilt(call), *communicator);
    }
    count(g_native_calls);
    return {};
  } catch (...) {  // no memory
    return {.failed = true};
  }
}

/// UNISONO_REPRODUCIBLE=runs: reductions whose bits depend on an order have one from their first
/// call on. Written in MPI_Init.
extern constinit std::atomic<bool> g_keeps_runs;

/// Whether such a call on so many ranks is one of these.
bool keeps_order(const Call& call, int ranks);

/// Whether a call of this kind was left to the MPI library beforehand: nothing else needs to be
/// asked. Asked once, in dispatch().
inline bool is_left(const Call& call, const CallInfo& info) {
  if (info.failed || !info.communicator->leaves_any(call.collective)) return false;
  Communicator& communicator = *info.communicator;
  // What is left is left by its length alone.
  if (is_reducing(call.collective) && keeps_order(call, communicator.size())) return false;
  if (!communicator.is_left(call.collective, info.bytes)) return false;
  count(g_native_calls);
  return true;
}

}  // namespace unisono
