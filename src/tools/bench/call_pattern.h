// What the ranks do between two measured calls. Programs differ in that, and an algorithm that is
// the fastest after one is not so after another.
//
// - barrier: they meet, as in the OSU benchmarks.
// - loop: nothing; the next call follows at once.
// - sleep: every rank has slept. Its core may have clocked down or idled, others' work may have had
//   its caches, and the system must wake it; nothing is evicted on purpose.
// - compute: every rank computes for a time of its own and then writes its input anew, which lies
// in
//   its caches as a program's does. The times are drawn from the seed, the block, the call and the
//   rank, so that all arms of a block, and every run with the same seed, meet the same ones.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace unisono::bench {

enum class CallPattern { barrier, loop, sleep, compute };

std::string_view pattern_name(CallPattern pattern);
std::optional<CallPattern> pattern_named(std::string_view name);
/// "barrier, loop, ..."
std::string pattern_names();

/// Every call is by itself, with something before it that is not timed.
constexpr bool pauses(CallPattern pattern) {
  return pattern == CallPattern::sleep || pattern == CallPattern::compute;
}

/// Longer than any rank spins before it blocks, and than a core stays awake for nothing.
inline constexpr std::chrono::microseconds kSleep{300};
/// A rank computes for less than that; half of it in the mean.
inline constexpr std::chrono::microseconds kLongestComputing{100};

/// Gives the core away for kSleep.
void sleep_before_call();

/// Of one rank before one call, uniform in [0, kLongestComputing).
std::chrono::nanoseconds computing_time(std::uint64_t seed, std::uint64_t block, int call,
                                        int rank);

/// Keeps the core busy with arithmetic for so much of the processor's time: what others get of a
/// core that is shared does no work here.
void compute_for(std::chrono::nanoseconds time);

}  // namespace unisono::bench
