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

/// A request of the MPI library, which reads arrays until it is done.
class PassedOn {
 public:
  explicit PassedOn(MPI_Request request) : request_(request) {}
  void keep(KeptArrays arrays) { arrays_ = std::move(arrays); }
  void progress() noexcept {
    int count = 0, which = 0;
    MPI_Status status;
    code_ = look_in_turn(1, &request_, &count, &which, &status);
    done_ = code_ != MPI_SUCCESS || count > 0;
  }
  bool done() const { return done_; }
  std::optional<int> result() const { return code_; }

 private:
  MPI_Request request_;
  KeptArrays arrays_;
  int code_ = MPI_SUCCESS;
  bool done_ = false;
};

struct Entry {
  std::shared_ptr<Request> request;
  std::unique_ptr<PassedOn> passed_on;    // or this
  MPI_Request handle = MPI_REQUEST_NULL;  // the program's
  Outcome* outcome = nullptr;

  template <class Function>
  auto with(Function function) const {
    return passed_on != nullptr ? function(*passed_on) : function(*request);
  }
};
using Entries = std::list<Entry>;

/// Their progress is under the mutex: one thread moves them. A request is destroyed outside of the
/// library's turns: with the last one of a communicator that the program has freed goes ours.
struct InFlight {
  std::mutex mutex;
  Entries under_way, done;
  Entries::iterator next = under_way.end();  // to be moved, beside the oldest
  std::atomic<std::size_t> count{0};         // under way
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
  entry.outcome->code =
      entry.with([](const auto& moved) { return moved.result().value_or(MPI_ERR_INTERN); });
  PMPI_Grequest_complete(entry.handle);
}

/// At most so many, from this one on.
Entries::iterator move_some(InFlight& all, Entries::iterator from, std::size_t most) {
  for (; from != all.under_way.end() && most > 0; --most) {
    const auto entry = from++;
    const bool done = entry->with([](auto& moved) {
      moved.progress();
      return moved.done();
    });
    if (!done) continue;
    complete(*entry);
    if (all.next == entry) ++all.next;
    all.done.splice(all.done.end(), all.under_way, entry);
    all.has_done = true;
  }
  return from;
}

// With thousands in flight a turn must not take as long as all of them. The oldest are done first
// most often; the others come in turn, as the oldest may wait for a rank that waits for one of
// them.
constexpr std::size_t kAtOnce = 32;

/// Nothing, where this thread or another one moves them just now; whether there were any.
bool move_all() noexcept {
  InFlight& all = in_flight();
  if (all.count == 0) return false;
  if (t_moves) return true;
  const std::unique_lock lock(all.mutex, std::try_to_lock);
  if (!lock) return true;
  t_moves = true;
  const auto rest = move_some(all, all.under_way.begin(), kAtOnce);
  if (all.under_way.size() <= 2 * kAtOnce)
    all.next = rest;
  else if (all.next == all.under_way.end())
    all.next = all.under_way.begin();
  all.next = move_some(all, all.next, kAtOnce);
  t_moves = false;
  all.count = all.under_way.size();
  return all.count != 0;
}

/// What is not done at once is moved by others from now on. `entry`: a list of it alone, so that
/// there is memory for it.
void enter(Entries& entry) noexcept {
  InFlight& all = in_flight();
  {
    const std::lock_guard lock(all.mutex);
    all.under_way.splice(all.under_way.end(), entry);
    all.count = all.under_way.size();
  }
  if (has_turns()) take_turns(move_all);
}

/// The program's request. An MPI error code.
int give_handle(Entry& entry, std::unique_ptr<Outcome> outcome) {
  const int code =
      PMPI_Grequest_start(query, let_go, refuse_to_cancel, outcome.get(), &entry.handle);
  if (code == MPI_SUCCESS) entry.outcome = outcome.release();
  return code;
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
  Entries entry(1);
  const auto request = entry.front().request = started(communicator, call, choice, commutative);
  if (!request->done()) enter(entry);
  return request;
}

int start_nonblocking(Communicator& communicator, const Call& call, const Choice& choice,
                      bool commutative, MPI_Request* request) {
  forget_done();
  Entries entry(1);
  Entry& one = entry.front();
  auto outcome = std::make_unique<Outcome>();
  one.request = started(communicator, call, choice, commutative);
  const bool done = one.request->done();
  // What is wrong with the arguments is this call's error, not that of who waits.
  if (const int code = done ? one.request->result().value_or(MPI_ERR_INTERN) : MPI_SUCCESS;
      code != MPI_SUCCESS)
    return code;
  if (const int code = give_handle(one, std::move(outcome)); code != MPI_SUCCESS) return code;
  *request = one.handle;
  if (done)
    complete(one);
  else
    enter(entry);
  return MPI_SUCCESS;
}

// Where there is no memory, or no turn in which the library's request could be looked at, they are
// kept for ever.
void keep_until_done(KeptArrays arrays, MPI_Request* request) noexcept {
  Entries entry;
  std::unique_ptr<Outcome> outcome;
  try {
    if (!has_turns()) throw std::bad_alloc();
    entry.emplace_back();
    outcome = std::make_unique<Outcome>();
    entry.front().passed_on = std::make_unique<PassedOn>(*request);
    if (give_handle(entry.front(), std::move(outcome)) != MPI_SUCCESS) throw std::bad_alloc();
  } catch (const std::bad_alloc&) {
    for (auto& array : arrays) static_cast<void>(array.release());
    return;
  }
  entry.front().passed_on->keep(std::move(arrays));
  *request = entry.front().handle;
  enter(entry);
}

void forget_done() noexcept {
  InFlight& all = in_flight();
  if (!all.has_done || t_moves) return;
  Entries done;  // destroyed after the lock
  const std::unique_lock lock(all.mutex, std::try_to_lock);
  if (!lock) return;
  done.swap(all.done);
  all.has_done = false;
}

void settle_in_flight() noexcept {
  forget_done();
  if (in_flight().count == 0) leave_turns();
}

bool progress_in_flight() noexcept {
  const bool any = move_all();
  forget_done();
  return any;
}

}  // namespace unisono
