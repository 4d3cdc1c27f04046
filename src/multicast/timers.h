// Timers of RFC 5401 (NACK building block), 3.2, by the names that it gives them. GRTT is what the
// slowest packet and its answer take. Its backoff factor K is a quarter here: requests go to a
// parent with few children, and need not be spread over time so that one silences the others.
#pragma once
#include <algorithm>
#include <cstdint>

#include "multicast/socket.h"

namespace unisono::multicast {

struct Timers {
  Time grtt = 2 * kMillisecond;
  /// But not after longer than this: who asks is also heard.
  Time longest = kNever;
  /// What is unanswered is repeated after twice as long each time, up to so many times as long.
  static constexpr int kMostDoublings = 6;

  /// A receiver waits for up to so long, at random, before it asks for what it lacks.
  Time max_backoff() const { return grtt / 4; }
  /// After that it does not ask again before so long.
  Time receiver_holdoff() const { return 3 * grtt; }
  /// Who is asked waits for so long whether others ask as well.
  Time sender_aggregate() const { return grtt / 2; }
  /// For so long after a repair it is not made again; and after so long without an answer the
  /// sender asks.
  Time sender_holdoff() const { return 2 * grtt; }

  /// In one round nobody is answered twice.
  Time round() const { return grtt; }

  Time doubled(Time interval, int times) const {
    return std::min(interval << std::min(times, kMostDoublings), std::max(interval, longest));
  }
};

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): spreads timers, no secret.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30U) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27U) * 0x94d049bb133111ebULL;
    return z ^ z >> 31U;
  }
  /// 0 up to `limit`, which is positive.
  Time below(Time limit) { return static_cast<Time>(next() % static_cast<std::uint64_t>(limit)); }

 private:
  std::uint64_t state_;
};

}  // namespace unisono::multicast
