// How a rank waits for a word in shared memory, and how a rank that changes the word ends the wait.
// Templates over the memory, so that tests/node/explorer.h runs the same code in every
// interleaving.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>

#include "base/wait_mode.h"

namespace unisono::node {

/// What WaitPolicy::idle throws when a rank has died that this one may be waiting for. The call
/// cannot be finished, and what the ranks share is of no use any more.
struct RankLost : std::exception {
  const char* what() const noexcept override { return "a rank of the node has died"; }
};

/// The same mode on all ranks of a team: who changes a word looks for sleepers in WaitMode::sleep
/// only.
struct WaitPolicy {
  WaitMode mode = WaitMode::yield;
  /// Called in a wait that lasts: between looks, each few microseconds, or as often as a sleep
  /// takes where the rank may sleep; before the first sleep, and after every sleep that nobody
  /// ended (at first 1 ms, doubling to 8 ms). It keeps other messages moving, looks for the dead,
  /// and may throw RankLost; when it returns, the wait goes on. None: a sleep has no limit.
  void (*idle)(void* context) = nullptr;
  void* context = nullptr;
};

/// A sleeper registers before its last look, and who changes the word looks for sleepers after the
/// change; all four accesses are seq_cst. So in their one order either the sleeper sees the change,
/// or the other sees the sleeper. Between the last look and the sleep the kernel compares once
/// more.
template <class Memory>
[[gnu::noinline]] std::uint64_t wait_long(typename Memory::Word& word, std::uint64_t wanted,
                                          typename Memory::Word& sleepers,
                                          const WaitPolicy& policy) {
  typename Memory::Pause pause(policy);
  std::uint64_t seen = word.load(std::memory_order_acquire);
  while (seen < wanted && pause.look_again(word, seen)) seen = word.load(std::memory_order_acquire);
  if (seen >= wanted) return seen;
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  while ((seen = word.load(std::memory_order_seq_cst)) < wanted) pause.sleep(word, seen);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
  return seen;
}

/// Until `word` is `wanted` or more. What its writer did before is visible then. The value seen.
template <class Memory>
std::uint64_t wait_until(typename Memory::Word& word, std::uint64_t wanted,
                         typename Memory::Word& sleepers, const WaitPolicy& policy) {
  const std::uint64_t seen = word.load(std::memory_order_acquire);
  return seen >= wanted ? seen : wait_long<Memory>(word, wanted, sleepers, policy);
}

/// The counterpart: at most one system call, and none when nobody sleeps.
template <class Memory>
[[gnu::always_inline]] inline void advance(typename Memory::Word& word, std::uint64_t value,
                                           typename Memory::Word& sleepers, WaitMode mode) {
  if (mode != WaitMode::sleep) {
    word.store(value, std::memory_order_release);
    return;
  }
  // An exchange, not a store: on x86 only this one is before the following load for everybody.
  word.exchange(value, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) != 0) Memory::wake(word);
}

}  // namespace unisono::node
