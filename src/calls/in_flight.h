// What is in flight in this process. Whoever waits moves it, and so do the MPI library's turns.
#pragma once
#include <atomic>
#include <list>
#include <memory>

#include "calls/request.h"

namespace unisono {

class Moved;
/// A list of one, so that entering takes no memory.
using MovedNode = std::list<std::shared_ptr<Moved>>;

/// What is moved until it is done, by one thread at a time.
class Moved {
 public:
  virtual ~Moved() = default;
  /// Goes on as far as it can without waiting: whether it is done.
  virtual bool move() noexcept = 0;
  /// Done: tells the program's request. Afterwards another thread may have it.
  virtual void tell() noexcept = 0;
  /// Where its node goes when it is done; null: it is destroyed when there is time.
  virtual MovedNode* home() noexcept { return nullptr; }
};

/// From now on it is moved by others.
void enter_flight(MovedNode& node) noexcept;

/// Destroys what is done: with the last request of a communicator that the program has freed goes
/// our duplicate. Not in a turn, where that could not be.
void forget_done() noexcept;
/// The same where the MPI library may end, with MPI_Finalize or a session, to begin anew later.
void settle_in_flight() noexcept;

/// Moves what is in flight, unless this thread or another one does just now; whether there is any.
bool progress_in_flight() noexcept;
/// The same, but nothing is destroyed: for a thread of its own.
bool move_in_flight() noexcept;
bool is_any_in_flight() noexcept;
/// Sleeps until there is any, or somebody who has set `stop` wakes it.
void wait_for_flight(const std::atomic<bool>& stop) noexcept;
void wake_for_flight() noexcept;

}  // namespace unisono
