#include "node/memory.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <climits>
#include <ctime>

namespace unisono::node {

namespace {

// Looks that cost a nanosecond each while the line is in our own cache: a peer that is on its way
// comes within these. A pause instruction takes 40 ns on Intel's cores since Skylake.
constexpr int kEagerLooks = 1000;
// From here on the rank waits for one that computes, or that has no core after all.
constexpr int kSpins = 10'000;
// Who yields leaves the core to a rank that may be the one it waits for, and is spared a wake-up: 2
// us instead of 12 for a barrier of four on two cores. Against other programs a few do as well as
// many.
constexpr int kYields = 4;
constexpr int kYieldsPerClock = 1024;

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

}  // namespace

bool SharedMemory::Pause::look_again(const Word&, std::uint64_t) {
  ++looks_;
  if (policy_.mode == WaitMode::spin && looks_ < kSpins) {
    if (looks_ > kEagerLooks) relax();
    return true;
  }
  if (policy_.mode == WaitMode::sleep && looks_ > kYields) return false;
  sched_yield();
  if (looks_ % kYieldsPerClock == 0) tell_when_stalled();
  return true;
}

// Not FUTEX_PRIVATE_FLAG: the word is in several processes.
void SharedMemory::Pause::sleep(Word& word, std::uint64_t seen) {
  tell_when_stalled();
  const int ms = policy_.patience_ms;
  const timespec patience{ms / 1000, ms % 1000 * 1'000'000L};
  syscall(SYS_futex, futex_of(word), FUTEX_WAIT, static_cast<std::uint32_t>(seen), &patience,
          nullptr, 0);
}

void SharedMemory::Pause::tell_when_stalled() {
  using std::chrono::milliseconds;
  if (policy_.stalled == nullptr) return;
  const auto now = std::chrono::steady_clock::now();
  if (!timed_) begin_ = told_ = now;
  timed_ = true;
  // A sleep that is over by its own limit may be measured a little shorter.
  if (now - told_ < milliseconds(policy_.patience_ms) * 9 / 10) return;
  told_ = now;
  const auto waited = std::chrono::duration_cast<milliseconds>(now - begin_);
  policy_.stalled(policy_.context, static_cast<int>(waited.count()));
}

void SharedMemory::wake(Word& word) {
  syscall(SYS_futex, futex_of(word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace unisono::node
