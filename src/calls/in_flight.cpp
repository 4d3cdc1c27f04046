#include "calls/in_flight.h"

#include <atomic>
#include <list>
#include <mutex>

#include "mpi/turns.h"

namespace unisono {

namespace {

/// What MPI knows of a request: the library gives it back to query() and to let_go().
struct Outcome {
  int code = MPI_SUCCESS;
};

struct Entry {
  std::shared_ptr<Request> request;
  MPI_Request handle = MPI_REQUEST_NULL;  // the program's
  Outcome* outcome = nullptr;
};

/// Their progress is under the mutex: one thread moves them. A request is destroyed outside of the
/// library's turns: with the last one of a communicator that the program has freed goes ours.
struct InFlight {
  std::mutex mutex;
  std::list<Entry> under_way, done;
  std::atomic<std::size_t> count{0};  // under way
  std::atomic<bool> has_done{false};
};

// Never destroyed: a program may call MPI in its own exit handlers, after ours.
InFlight& in_flight() {
  static InFlight& all = *new InFlight;
  return all;
}

// What a request calls of the MPI library has turns of its own.
thread_local bool t_moves = false;

int query(void* outcome, MPI_Status* status) {
  // As of all nonblocking collectives nothing but the error is defined (MPI-4.1, 6.12).
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return static_cast<const Outcome*>(outcome)->code;
}

int let_go(void* outcome) {
  delete static_cast<Outcome*>(outcome);
  return MPI_SUCCESS;
}

int refuse_to_cancel(void*, int complete) { return complete != 0 ? MPI_SUCCESS : MPI_ERR_REQUEST; }

/// From now on the outcome is the library's.
void complete(const Entry& entry) noexcept {
  if (entry.outcome == nullptr) return;
  entry.outcome->code = entry.request->result().value_or(MPI_ERR_INTERN);
  PMPI_Grequest_complete(entry.handle);
}

/// Nothing, where this thread or another one moves them just now; whether there were any.
bool move_all() noexcept {
  InFlight& all = in_flight();
  if (all.count == 0) return false;
  if (t_moves) return true;
  const std::unique_lock lock(all.mutex, std::try_to_lock);
  if (!lock) return true;
  t_moves = true;
  for (auto next = all.under_way.begin(); next != all.under_way.end();) {
    const auto entry = next++;
    entry->request->progress();
    if (!entry->request->done()) continue;
    complete(*entry);
    all.done.splice(all.done.end(), all.under_way, entry);
    all.has_done = true;
  }
  t_moves = false;
  all.count = all.under_way.size();
  return all.count != 0;
}

/// Not while this thread moves them.
void destroy_done() noexcept {
  InFlight& all = in_flight();
  if (!all.has_done) return;
  std::list<Entry> done;  // destroyed after the lock
  const std::unique_lock lock(all.mutex, std::try_to_lock);
  if (!lock) return;
  done.swap(all.done);
  all.has_done = false;
}

/// What is not done at once is moved by others from now on. `entry`: a list of it alone, so that
/// there is memory for it.
void enter(std::list<Entry>& entry) noexcept {
  InFlight& all = in_flight();
  {
    const std::lock_guard lock(all.mutex);
    all.under_way.splice(all.under_way.end(), entry);
    all.count = all.under_way.size();
  }
  if (has_turns()) take_turns(move_all);
}

std::shared_ptr<Request> started(Communicator& communicator, const Call& call, const Choice& choice,
                                 bool commutative) {
  auto request = std::make_shared<Request>(communicator, call, choice, commutative,
                                           Request::Lifetime::in_flight);
  request->start();
  return request;
}

}  // namespace

std::shared_ptr<Request> start_in_flight(Communicator& communicator, const Call& call,
                                         const Choice& choice, bool commutative) {
  std::list<Entry> entry(1);
  const auto request = entry.front().request = started(communicator, call, choice, commutative);
  if (!request->done()) enter(entry);
  return request;
}

int start_nonblocking(Communicator& communicator, const Call& call, const Choice& choice,
                      bool commutative, MPI_Request* request) {
  destroy_done();
  std::list<Entry> entry(1);
  Entry& one = entry.front();
  auto outcome = std::make_unique<Outcome>();
  one.request = started(communicator, call, choice, commutative);
  if (const int rc =
          PMPI_Grequest_start(query, let_go, refuse_to_cancel, outcome.get(), &one.handle);
      rc != MPI_SUCCESS)
    return rc;
  one.outcome = outcome.release();
  *request = one.handle;
  if (one.request->done())
    complete(one);
  else
    enter(entry);
  return MPI_SUCCESS;
}

bool progress_in_flight() noexcept {
  const bool any = move_all();
  if (!t_moves) destroy_done();
  return any;
}

}  // namespace unisono
