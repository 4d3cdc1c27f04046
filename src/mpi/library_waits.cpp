#include "mpi/library_waits.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/launcher.h"
#include "mpi/threads.h"
#include "wait/waiter.h"

namespace unisono {

constinit std::atomic<WaitMode> g_library_waits{WaitMode::spin};
constinit std::atomic<bool> g_library_yields{false};

namespace {

constinit std::atomic<bool> g_settled{false};

/// Of this thread, for all waits of the MPI library.
wait::Window& window() {
  thread_local wait::Window one;
  return one;
}

/// Where several threads call MPI, who waits holds a lock that the others may want: no naps.
WaitMode mode() {
  const WaitMode mode = g_library_waits.load(std::memory_order_relaxed);
  return mode == WaitMode::sleep && several_threads() ? WaitMode::yield : mode;
}

/// The wait of a call. Never destroyed with its thread, whose last destructors may call MPI.
class CallWait {
 public:
  void begin(WaitMode mode) {
    end();
    waiter_ = new (room_) Waiter(mode, window());
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
  /// A turn looks at the network before it looks at the node's memory: after the first one nothing
  /// is known yet.
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

}  // namespace

bool yields_by_itself(std::string_view library) {
  constexpr std::string_view kMpich = "MPICH Version:";
  if (!library.starts_with(kMpich)) return library.starts_with("Intel");
  const std::size_t begin = library.find_first_not_of(" \t", kMpich.size());
  int major = 0;
  if (begin != library.npos)
    std::from_chars(library.data() + begin, library.data() + library.size(), major);
  return major >= 5;
}

void give_way_as_launched() noexcept {
  const char* wait = std::getenv("UNISONO_WAIT");
  const bool spins = wait != nullptr && std::string_view(wait) == "spin";
  if (g_settled.load(std::memory_order_relaxed) || spins || unisono_is_switched_off() != 0) return;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const bool shared = cores > 0 && unisono_job_here().ranks > cores;
  g_library_waits.store(shared ? WaitMode::yield : WaitMode::spin, std::memory_order_relaxed);
}

void give_way(WaitMode mode, bool library_yields) noexcept {
  g_library_yields.store(library_yields, std::memory_order_relaxed);
  g_settled.store(true, std::memory_order_relaxed);
  g_library_waits.store(mode, std::memory_order_relaxed);
}

BlockingCall::BlockingCall(bool yields_by_itself) noexcept
    : outer_(std::exchange(t_in_call, true)) {
  t_wait.begin(yields_by_itself ? WaitMode::spin : mode());
}
BlockingCall::~BlockingCall() {
  t_wait.end();
  t_in_call = outer_;
}

void found_nothing() noexcept { t_wait.found_nothing(); }

void turned_in_vain() noexcept {
  thread_local Tests tests;
  const int error = errno;
  t_in_call ? t_wait.turned_in_vain() : tests.turned_in_vain();
  errno = error;
}

}  // namespace unisono
