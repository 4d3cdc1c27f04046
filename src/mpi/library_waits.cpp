#include "mpi/library_waits.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/cores.h"
#include "base/launcher.h"
#include "mpi/simulated.h"
#include "mpi/threads.h"
#include "wait/kept_errno.h"
#include "wait/waiter.h"

namespace unisono {

constinit std::atomic<GivesWay> g_gives_way{GivesWay::never};
constinit std::atomic<LibraryWaits> g_library;

namespace {

constinit std::atomic<bool> g_settled{false};

// Of this thread, for all waits of the MPI library.
constinit thread_local wait::Window t_window;
constinit thread_local wait::Spin t_spin;

/// Where several threads call MPI, who waits holds a lock that the others may want: no naps.
WaitMode mode() {
  const GivesWay when = g_gives_way.load(std::memory_order_relaxed);
  if (when == GivesWay::naps && !several_threads()) return WaitMode::sleep;
  return when >= GivesWay::yields ? WaitMode::yield : WaitMode::spin;
}

/// The wait of a call. Never destroyed with its thread, whose last destructors may call MPI.
class CallWait {
 public:
  void begin(WaitMode mode) {
    end();
    waiter_ = new (room_) Waiter(mode, t_window, t_spin);
    has_turned_ = false;
  }
  void end() {
    if (waiter_ != nullptr) waiter_->~Waiter();
    waiter_ = nullptr;
  }
  void found_nothing() {
    if (waiter_ == nullptr) begin(mode());  // a call within the call had its own
    waiter_->nothing_came();
  }
  /// In MPICH 4.0 a turn looks at the network before it looks at the node's memory: after the
  /// first one nothing is known yet.
  void turned_in_vain() {
    if (has_turned_) found_nothing();
    has_turned_ = true;
  }

 private:
  Waiter* waiter_ = nullptr;  // in the room
  bool has_turned_ = false;
  alignas(Waiter) std::byte room_[sizeof(Waiter)];
};

thread_local bool t_in_call = false;
thread_local CallWait t_wait;

/// Looks that follow each other at once belong to a wait; the others to a program that does
/// something else in between, and keeps its core.
class Tests {
 public:
  void turned_in_vain() {
    const wait::Time begin = wait::now();
    if (begin - last_ <= kYieldsApart * yield_) {
      sched_yield();
      yield_ = std::min(yield_, std::max(wait::now() - begin, wait::Time(1)));
    }
    last_ = wait::now();
  }

 private:
  static constexpr int kYieldsApart = 4;

  wait::Time last_{0};
  wait::Time yield_ = std::chrono::microseconds(1);  // the shortest; at first more than most take
};

/// Turns of waits where each rank has its core. Where a wait of the library begins is not known:
/// its turns follow each other soon, and a program's that does something else in between do not.
class LateTurns {
 public:
  /// After some more of them.
  void turned_in_vain() {
    wait::Time time = wait::now();
    if (time - last_ > kApart) begin_ = time;
    if (t_spin.has_passed(time - begin_)) {
      wait::yield(t_spin);
      begin_ = time = wait::now();
    }
    last_ = time;
  }

 private:
  static constexpr wait::Time kApart = std::chrono::microseconds(50);

  wait::Time begin_{0}, last_{0};
};

}  // namespace

LibraryWaits waits_of(std::string_view library) {
  constexpr std::string_view kMpich = "MPICH Version:";
  if (library.starts_with("Intel")) return {.yield = true};
  const std::size_t begin = library.find_first_not_of(" \t", kMpich.size());
  int major = 0;
  if (library.starts_with(kMpich) && begin != library.npos)
    std::from_chars(library.data() + begin, library.data() + library.size(), major);
  return {.yield = major >= 5, .may_look_among_threads = major >= 4};
}

GivesWay when_waits_give_way(std::optional<WaitMode> asked, bool shares_cores) {
  if (kSimulated || asked == WaitMode::spin) return GivesWay::never;
  if (!shares_cores) return GivesWay::late;
  return asked == WaitMode::yield ? GivesWay::yields : GivesWay::naps;
}

bool may_look() {
  return g_library.load(std::memory_order_relaxed).may_look_among_threads || !several_threads();
}

namespace {

/// Cores of all ranks of this node together, as far as one of them can tell: a rank may be bound to
/// its own, but what has started it is not.
int launched_cores() {
  cpu_set_t mask;
  const int cores = online_cores();
  const bool known = sched_getaffinity(getppid(), sizeof mask, &mask) == 0;
  return known ? std::min(cores, CPU_COUNT(&mask)) : cores;
}

}  // namespace

void give_way_as_launched() noexcept {
  const char* wait = std::getenv("UNISONO_WAIT");
  const bool spins = wait != nullptr && std::string_view(wait) == "spin";
  if (g_settled.load(std::memory_order_relaxed) || spins || unisono_is_switched_off() != 0) return;
  const bool shared = unisono_job_here().ranks > launched_cores();
  auto unknown = GivesWay::never;
  g_gives_way.compare_exchange_strong(unknown, shared ? GivesWay::yields : GivesWay::late);
}

void give_way(GivesWay when, LibraryWaits library) noexcept {
  g_library.store(library, std::memory_order_relaxed);
  g_settled.store(true, std::memory_order_relaxed);
  g_gives_way.store(when, std::memory_order_relaxed);
}

void give_way_no_more() noexcept {
  if (!g_settled.load(std::memory_order_relaxed)) give_way(GivesWay::never, {});
}

bool enter_blocking_call(bool yields_by_itself) noexcept {
  t_wait.begin(yields_by_itself ? WaitMode::spin : mode());
  return std::exchange(t_in_call, true);
}

void leave_blocking_call(bool was_in_one) noexcept {
  t_wait.end();
  t_in_call = was_in_one;
}

void found_nothing() noexcept {
  const wait::KeptErrno kept;
  t_wait.found_nothing();
}

void turned_often_in_vain() noexcept {
  constinit thread_local LateTurns turns;
  const wait::KeptErrno kept;
  turns.turned_in_vain();
}

void turned_in_vain() noexcept {
  thread_local Tests tests;
  const wait::KeptErrno kept;
  t_in_call ? t_wait.turned_in_vain() : tests.turned_in_vain();
}

}  // namespace unisono
