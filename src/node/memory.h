// Memory that the ranks of a node share, as the templates of this layer want it.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "node/copy.h"
#include "node/wait.h"
#include "wait/poll.h"
#include "wait/spin.h"

namespace unisono::node {

struct SharedMemory {
  /// 64 bits never wrap: at 50 ns a step they last 29 000 years.
  using Word = std::atomic<std::uint64_t>;
  static_assert(Word::is_always_lock_free && sizeof(Word) == sizeof(std::uint64_t));

  static constexpr unsigned kCells = 8;    ///< steps that a rank may be ahead of the slowest
  static constexpr unsigned kUses = 1024;  ///< of a ring of slots, remembered

  /// One wait.
  class Pause {
   public:
    explicit Pause(const WaitPolicy& policy);
    /// After a fruitless look. False: sleep now.
    bool look_again(const Word& word, std::uint64_t seen);
    /// Unless `word` is no longer `seen`; until woken, or until it is time to be idle.
    void sleep(Word& word, std::uint64_t seen);

   private:
    void be_idle() const;

    const WaitPolicy& policy_;
    wait::Poll poll_;          // in WaitMode::sleep only
    wait::SpinningWait spin_;  // in WaitMode::spin only
    std::int64_t looks_ = 0;
    int sleep_ms_ = 1;
  };

  /// Everybody who sleeps on this word.
  static void wake(Word& word);

  static void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    copy_bytes(to, from, bytes);
  }
  /// Past the caches. Nobody sees it before the fence.
  static void stream(std::byte* to, const std::byte* from, std::size_t bytes) {
    stream_bytes(to, from, bytes);
  }
  static void fence() { fence_streams(); }
  /// From the memory of a process of the node. False: it cannot be reached, and a part may have
  /// been copied.
  static bool pull(pid_t process, std::byte* to, const std::byte* from, std::size_t bytes);
};

}  // namespace unisono::node
