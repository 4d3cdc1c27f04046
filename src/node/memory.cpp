#include "node/memory.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <ctime>

#include "wait/awake.h"
#include "wait/kept_errno.h"

namespace unisono::node {

namespace {

// Looks that cost a nanosecond each while the line is in our own cache: a peer that is on its way
// comes within these. A pause instruction takes 40 ns on Intel's cores since Skylake.
constexpr int kEagerLooks = 1000;
constexpr int kRelaxesPerIdle = 64;
// A yield takes half a microsecond when nobody else wants the core.
constexpr int kYieldsPerIdle = 16;
// How late a message of the MPI library may be because everybody sleeps, against how often a rank
// that waits for one that computes takes a core from it.
constexpr int kLongestSleepMs = 8;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

/// The half of the word that changes with every step.
std::uint32_t* futex_of(SharedMemory::Word& word) {
  constexpr int low = std::endian::native == std::endian::little ? 0 : 1;
  return reinterpret_cast<std::uint32_t*>(&word) + low;
}

// Of this thread, for all waits for a word.
constinit thread_local wait::Window t_window;
constinit thread_local wait::Spin t_spin;

}  // namespace

SharedMemory::Pause::Pause(const WaitPolicy& policy)
    : policy_(policy), poll_(t_window), spin_(t_spin) {}

bool SharedMemory::Pause::look_again(const Word&, std::uint64_t) {
  if (policy_.mode != WaitMode::spin && wait::stays_awake()) {
    sched_yield();
    be_idle();
    return true;
  }
  if (policy_.mode == WaitMode::sleep) {
    const wait::Poll::Next next = poll_.look_again();
    if (next != wait::Poll::Next::look) be_idle();
    return next != wait::Poll::Next::sleep;
  }
  ++looks_;
  if (policy_.mode == WaitMode::spin) {
    if (looks_ <= kEagerLooks) return true;
    if (!spin_.look_again()) {
      relax();
      if (looks_ % kRelaxesPerIdle == 0) be_idle();
      return true;
    }
  } else if (!poll_.looks_at_once()) {
    poll_.yield();
  }
  if (looks_ % kYieldsPerIdle == 0) be_idle();
  return true;
}

// Not FUTEX_PRIVATE_FLAG: the word is in several processes.
void SharedMemory::Pause::sleep(Word& word, std::uint64_t seen) {
  const wait::KeptErrno kept;
  wait::Sleep one(std::chrono::milliseconds{sleep_ms_});
  const bool is_limited = policy_.idle != nullptr || one.is_first();
  const timespec limit = one.limit();
  const long ended =
      syscall(SYS_futex, futex_of(word), FUTEX_WAIT, static_cast<std::uint32_t>(seen),
              is_limited ? &limit : nullptr, nullptr, 0);
  if (ended == 0 || errno == EAGAIN) return;
  // A signal may end every sleep before its time: that must not keep the rank from being idle.
  if (errno == ETIMEDOUT) {
    one.nobody_ended_it();
    if (!one.is_first()) sleep_ms_ = std::min(2 * sleep_ms_, kLongestSleepMs);
  } else if (errno != EINTR) {
    sched_yield();  // a container may deny sleeps
  }
  be_idle();
}

void SharedMemory::Pause::be_idle() const {
  if (policy_.idle != nullptr) policy_.idle(policy_.context);
}

void SharedMemory::wake(Word& word) {
  syscall(SYS_futex, futex_of(word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace unisono::node
