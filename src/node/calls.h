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

/// This rank does not complete a call that it has begun with the others.
struct CallLeft : std::exception {};

/// What await() throws where another rank has not made the same calls. What the ranks share is of
/// no use any more. The words are those of the first calls that differ.
struct CallsDiffer : CallLeft {
  CallsDiffer(int of_rank, CallWord theirs_, CallWord mine_, bool is_earlier)
      : rank(of_rank), theirs(theirs_), mine(mine_), earlier(is_earlier) {}
  const char* what() const noexcept override { return "ranks have called different collectives"; }

  int rank;
  CallWord theirs, mine;
  bool earlier;  ///< this rank has completed that call, and begun others
};

/// What look_for_difference() throws where another rank takes no part in the call that is waited
/// for.
struct RankAbsent : CallLeft {
  RankAbsent(int of_rank, bool has_refused) : rank(of_rank), refused(has_refused) {}
  const char* what() const noexcept override { return "a rank takes no part in this call"; }

  int rank;
  bool refused;  ///< this very call; else it leaves all calls from an earlier one on
};

/// What begin_call(), or a wait that lasts, throws once calls of the ranks have differed
/// (CallsEnd).
struct CallsEnded : CallLeft {
  explicit CallsEnded(bool is_inside) : inside(is_inside) {}
  const char* what() const noexcept override { return "ranks make no calls together any more"; }

  bool inside;  ///< the call may have moved data
};

/// Every store that a rank has made to shared memory before it reads what this one has stored last
/// is to be seen now. Costs milliseconds.
void see_stores_of_others();

/// From which call on ranks whose calls have differed make none in their team's memory any more.
/// Who only sends may have completed some calls that the others cannot complete, nor repeat
/// elsewhere. In the team's memory, the same for all ranks.
class CallsEnd {
 public:
  /// Whoever begins a call looks at this once it has said so in its log.
  bool is_near() const { return first_.load(std::memory_order_relaxed) != kNever; }
  /// True on one rank, which is to settle it.
  bool begin() {
    std::uint64_t never = kNever;
    return first_.compare_exchange_strong(never, kBeingSettled, std::memory_order_acq_rel);
  }
  void settle(std::uint64_t first) { first_.store(first, std::memory_order_release); }
  /// The number of that call, once it is settled.
  std::optional<std::uint64_t> first() const {
    const std::uint64_t first = first_.load(std::memory_order_acquire);
    return first == kNever || first == kBeingSettled ? std::nullopt : std::optional(first);
  }

 private:
  static constexpr std::uint64_t kNever = 0, kBeingSettled = ~std::uint64_t{0};

  std::atomic<std::uint64_t> first_{kNever};
};

/// What a rank says of calls in which it takes no part, by their numbers among all calls of the
/// communicator, wherever these run. Written by it, read by others whose wait lasts.
class Absences {
 public:
  /// It has left this call to the MPI library, as the others may not. Of those before it only the
  /// ones that it left one after the other are remembered.
  void refuse(std::uint64_t call) {
    const std::uint64_t run = refused_.load(std::memory_order_relaxed), length = run % kLongest;
    const bool follows = length != 0 && length + 1 < kLongest && run / kLongest + length == call;
    refused_.store(follows ? run + 1 : call * kLongest + 1, std::memory_order_release);
  }
  /// Whether two ranks have refused the same calls, as far as they are remembered.
  bool equals(const Absences& other) const {
    return refused_.load(std::memory_order_acquire) ==
           other.refused_.load(std::memory_order_acquire);
  }
  bool has_refused(std::uint64_t call) const {
    const std::uint64_t run = refused_.load(std::memory_order_acquire), first = run / kLongest;
    return call >= first && call < first + run % kLongest;
  }
  /// It leaves all calls from this one on to the MPI library.
  void leave_from(std::uint64_t call) {
    std::uint64_t never = kNever;
    left_.compare_exchange_strong(never, call, std::memory_order_acq_rel);
  }
  bool leaves(std::uint64_t call) const { return call >= left_.load(std::memory_order_acquire); }

 private:
  static constexpr std::uint64_t kLongest = 1 << 20, kNever = ~std::uint64_t{0};

  std::atomic<std::uint64_t> refused_{0};  // the first of them times kLongest, and how many
  std::atomic<std::uint64_t> left_{kNever};
};

/// The last calls of a rank, written by it, and read by others once something is wrong.
class CallLog {
 public:
  static constexpr std::uint64_t kKept = 64;

  /// `number`: the call's among all calls of the communicator.
  void note(CallWord call, std::uint64_t number) {
    const std::uint64_t calls = calls_.load(std::memory_order_relaxed);
    words_[calls % kKept].store(call, std::memory_order_relaxed);
    last_.store(2 * number + 1, std::memory_order_relaxed);
    calls_.store(calls + 1, std::memory_order_release);
  }
  std::uint64_t calls() const { return calls_.load(std::memory_order_acquire); }
  /// The call that was noted last is over.
  void complete() {
    last_.store(last_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  }
  /// This rank makes no more calls with the others. The last one is over if it has failed; else it
  /// has not been, and those before it have.
  void stop(bool failed) {
    const std::uint64_t last = last_.load(std::memory_order_relaxed);
    if (last % 2 != 0) last_.store(failed ? last - 1 : last - 3, std::memory_order_release);
  }
  /// The number of the last call that is over, among all calls of the communicator; nothing while
  /// another is under way.
  std::optional<std::uint64_t> settled() const {
    const std::uint64_t last = last_.load(std::memory_order_acquire);
    return last % 2 != 0 ? std::nullopt : std::optional(last / 2);
  }
  /// The call of that place, of which the first is 0; 0 where it is not kept any more.
  CallWord at(std::uint64_t call) const {
    const CallWord word = words_[call % kKept].load(std::memory_order_acquire);
    // The oldest may be overwritten just now.
    return calls() < call + kKept ? word : 0;
  }

 private:
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<std::uint64_t> last_{0};  // twice the number of the last one, and 1 while it lasts
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
      return CallsDiffer(rank, their_call, my_call, call + 1 < mine.calls());
  }
  return std::nullopt;
}

}  // namespace unisono::node
