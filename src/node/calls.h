// Which calls the ranks of a team have made. Each rank says with every step by what calls it came
// there, in a word beside the number of the step: who reads one reads the other, on the same cache
// line. So ranks that call different collectives, or one collective with different sizes or roots,
// find that out before they take each other's data.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace unisono::node {

/// One call, as whoever makes it packs it; never 0. The same on all ranks.
using CallWord = std::uint64_t;

/// What await() throws where another rank has not made the same calls. What the ranks share is of
/// no use any more. The words are those of the first calls that differ; 0: not known any more.
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
    calls_.store(calls + 1, std::memory_order_relaxed);
  }
  std::uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  /// The call of that number, the first is 0; 0 where it is not kept.
  CallWord at(std::uint64_t call) const {
    const std::uint64_t all = calls();
    const bool kept = call < all && call + kKept > all;
    return kept ? words_[call % kKept].load(std::memory_order_relaxed) : 0;
  }

 private:
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<CallWord> words_[kKept]{};
};

/// Where two ranks, of which `rank` is the other, have gone different ways. One of them may have
/// been waiting before its next call, so that only calls of both are compared.
inline CallsDiffer first_difference(int rank, const CallLog& theirs, const CallLog& mine) {
  const std::uint64_t both = theirs.calls() < mine.calls() ? theirs.calls() : mine.calls();
  for (std::uint64_t call = both > CallLog::kKept ? both - CallLog::kKept : 0; call < both; ++call)
    if (theirs.at(call) != 0 && mine.at(call) != 0 && theirs.at(call) != mine.at(call))
      return {rank, theirs.at(call), mine.at(call)};
  return {rank, 0, 0};
}

}  // namespace unisono::node
