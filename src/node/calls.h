// Which calls the ranks of a team have made. Each rank says with every step by what calls it came
// there, in a word beside the number of the step: who reads one reads the other, on the same cache
// line. So ranks that call different collectives, or one collective with different sizes or roots,
// find that out before they take each other's data.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>

namespace unisono::node {

/// One call, as whoever makes it packs it; never 0. The same on all ranks.
using CallWord = std::uint64_t;

/// What await() throws where another rank has not made the same calls. What the ranks share is of
/// no use any more. The words are those of the first calls that differ.
struct CallsDiffer : std::exception {
  CallsDiffer(int of_rank, CallWord theirs_, CallWord mine_)
      : rank(of_rank), theirs(theirs_), mine(mine_) {}
  const char* what() const noexcept override { return "ranks have called different collectives"; }

  int rank;
  CallWord theirs, mine;
};

/// The last calls of a rank, written by it, and read by others once something is wrong.
class CallLog {
 public:
  static constexpr std::uint64_t kKept = 64;

  void note(CallWord call) {
    const std::uint64_t calls = calls_.load(std::memory_order_relaxed);
    words_[calls % kKept].store(call, std::memory_order_relaxed);
    calls_.store(calls + 1, std::memory_order_release);
  }
  std::uint64_t calls() const { return calls_.load(std::memory_order_acquire); }
  /// The call of that number, of which the first is 0; 0 where it is not kept any more.
  CallWord at(std::uint64_t call) const {
    const CallWord word = words_[call % kKept].load(std::memory_order_acquire);
    // The oldest may be overwritten just now.
    return calls() < call + kKept ? word : 0;
  }

 private:
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<CallWord> words_[kKept]{};
};

/// The first calls that two ranks, `rank` and this one, have made differently. Only calls that both
/// have begun are compared.
inline std::optional<CallsDiffer> first_difference(int rank, const CallLog& theirs,
                                                   const CallLog& mine) {
  const std::uint64_t both = std::min(theirs.calls(), mine.calls());
  for (std::uint64_t call = both > CallLog::kKept ? both - CallLog::kKept : 0; call < both;
       ++call) {
    const CallWord their_call = theirs.at(call), my_call = mine.at(call);
    if (their_call != 0 && my_call != 0 && their_call != my_call)
      return CallsDiffer(rank, their_call, my_call);
  }
  return std::nullopt;
}

}  // namespace unisono::node
