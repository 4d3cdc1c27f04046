#include "interpose/dispatch.h"

#include <exception>
#include <mutex>
#include <new>

#include "calls/absent_rank.h"
#include "mpi/rank_lost.h"
#include "mpi/threads.h"
#include "node/kernels.h"
#include "node/wait.h"
#include "runtime/engine.h"

namespace unisono {

constinit std::atomic<CollectiveSet> g_candidates{0};

namespace {

/// What g_candidates would be if nobody watched.
constinit std::atomic<CollectiveSet> g_run{0};
/// While Unisono starts or stops, which all ranks do together: whether there is a session then must
/// not change.
constinit std::mutex g_turning;

// Nothing thrown may reach the program's C code. Whatever fails inside a collective that other
// ranks may have begun cannot be handed to the MPI library any more: it is an error of the
// communicator.
template <class Run>
std::optional<int> guarded(const Call& call, const CallInfo& info, const Run& run) {
  int error = MPI_SUCCESS;
  const CalledOn called_on(call.comm);
  try {
    if (info.failed) throw std::bad_alloc();
    // On the fast path.
    if (const std::exception_ptr failure = info.communicator->take_failure())
      std::rethrow_exception(failure);
    if (info.communicator->has_lost_rank()) throw node::RankLost();
    const std::optional<int> rc = run();
    if (!rc || *rc == MPI_SUCCESS) return rc;
    error = *rc;
  } catch (const std::bad_alloc&) {
    error = MPI_ERR_NO_MEM;
  } catch (const node::RankLost&) {
    info.communicator->lose_rank();
    error = rank_lost_error(call.comm);
  } catch (const node::CallsDiffer& differ) {
    const std::optional<int> code = end_differing(*info.communicator, call, differ);
    if (!code) return code;
    error = *code;
  } catch (const node::RankAbsent& absent) {
    const std::optional<int> code = end_without_rank(*info.communicator, call, absent);
    if (!code) return code;
    error = *code;
  } catch (const node::CallsEnded& ended) {
    const std::optional<int> code = end_after_difference(*info.communicator, call, ended);
    if (!code) return code;
    error = *code;
  } catch (const node::Truncated&) {
    error = MPI_ERR_TRUNCATE;
  } catch (const std::exception&) {
    error = MPI_ERR_INTERN;
  }
  PMPI_Comm_call_errhandler(call.comm, error);
  return error;
}

}  // namespace

std::optional<int> decide(const Call& call, const CallInfo& info, CallScope& scope) {
  return guarded(call, info, [&] { return Engine::instance().run(call, info, scope); });
}

std::optional<int> start(const Call& call, MPI_Request* request) {
  if (!contains(g_run.load(std::memory_order_relaxed), call.collective)) return std::nullopt;
  const CallInfo info = info_of(call);
  if (!info) return std::nullopt;
  return guarded(call, info, [&] { return Engine::instance().start(call, info, request); });
}

std::optional<int> make_persistent(const Call& call, MPI_Info hints, MPI_Request* request) {
  if (!contains(g_run.load(std::memory_order_relaxed), call.collective)) return std::nullopt;
  const CallInfo info = info_of(call);
  if (!info) return std::nullopt;
  return guarded(call, info,
                 [&] { return Engine::instance().make_persistent(call, info, hints, request); });
}

std::optional<int> dispatch(const Call& call, CallScope& scope) {
  if (!contains(g_run.load(std::memory_order_relaxed), call.collective)) return std::nullopt;
  const CallInfo info = info_of(call);
  if (!info) return std::nullopt;
  return dispatch(call, info, scope);
}

void set_candidates() {
  const Engine& engine = Engine::instance();
  const CollectiveSet run = engine.candidates();
  g_run.store(run, std::memory_order_relaxed);
  g_candidates.store(engine.is_watching() ? ~CollectiveSet{0} : run, std::memory_order_release);
}

void on_init() {
  const std::lock_guard lock(g_turning);
  Engine::instance().start();
  set_candidates();
}

void on_session() {
  const std::lock_guard lock(g_turning);
  g_session_threads = true;
  g_several_threads = true;
}

void on_finalize() {
  const std::lock_guard lock(g_turning);
  // Nobody comes in while things are freed, unless a session's communicators go on being served.
  if (!g_session_threads) g_candidates.store(0, std::memory_order_release);
  Engine::instance().stop();
  set_candidates();
}

}  // namespace unisono
