#include "calls/in_flight.h"

#include <atomic>
#include <mutex>

#include "base/lasting.h"
#include "mpi/turns.h"

namespace unisono {

namespace {

/// Progress is under the mutex: one thread moves them. They are destroyed outside of the library's
/// turns.
struct InFlight {
  std::mutex mutex;
  MovedNode under_way, done;
  MovedNode::iterator next = under_way.end();  // to be moved, beside the oldest
  std::atomic<std::size_t> count{0};           // under way
  std::atomic<bool> has_done{false};
  std::atomic<unsigned> entered{0};  // counts, for who sleeps
  std::atomic<bool> has_sleeper{false};
};

InFlight& in_flight() { return lasting<InFlight>(); }

// What is called of the MPI library here has turns of its own.
thread_local bool t_moves = false;

/// At most so many, from this one on.
MovedNode::iterator move_some(InFlight& all, MovedNode::iterator from, std::size_t most) {
  for (; from != all.under_way.end() && most > 0; --most) {
    const auto at = from++;
    if (!(*at)->move()) continue;
    if (all.next == at) ++all.next;
    Moved& over = **at;
    MovedNode* home = over.home();
    MovedNode& into = home != nullptr ? *home : all.done;
    into.splice(into.end(), all.under_way, at);
    if (home == nullptr) all.has_done = true;
    over.tell();
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

}  // namespace

void enter_flight(MovedNode& node) noexcept {
  InFlight& all = in_flight();
  // One of them is over, and leaves a group to look after: this thread has the mutex.
  if (t_moves) {
    all.under_way.splice(all.under_way.end(), node);
    return;
  }
  {
    const std::lock_guard lock(all.mutex);
    all.under_way.splice(all.under_way.end(), node);
    all.count = all.under_way.size();
  }
  if (all.has_sleeper) wake_for_flight();
  if (has_turns()) take_turns(move_all);
}

void forget_done() noexcept {
  InFlight& all = in_flight();
  if (!all.has_done || t_moves) return;
  MovedNode done;  // destroyed after the lock
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

bool move_in_flight() noexcept { return move_all(); }

bool is_any_in_flight() noexcept { return in_flight().count != 0; }

void wait_for_flight(const std::atomic<bool>& stop) noexcept {
  InFlight& all = in_flight();
  all.has_sleeper = true;
  for (unsigned seen = all.entered; all.count == 0 && !stop; seen = all.entered)
    all.entered.wait(seen);
}

void wake_for_flight() noexcept {
  ++in_flight().entered;
  in_flight().entered.notify_all();
}

}  // namespace unisono
