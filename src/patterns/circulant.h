// Round-optimal broadcast schedules on circulant graphs, for any number of ranks.
//
// With q = ceil(log2 p) skips, each about half the next, every rank sends one block and receives
// one in each of n - 1 + q rounds: the optimum for n blocks. A rank finds its part alone.
// Source: Traeff, (Poly)Logarithmic Time Construction of Round-optimal n-Block Broadcast Schedules
// (2022); arXiv 2407.18004.
#pragma once
#include <array>

#include "patterns/broadcast_round.h"
#include "schedule/schedule.h"

namespace unisono {

inline constexpr int kMaxLog = 31;  ///< ceil(log2 p) of any int

class Circulant {
 public:
  explicit Circulant(int size);

  int size() const { return size_; }
  int rounds() const { return q_; }                                     ///< q
  int skip(int k) const { return skip_[static_cast<std::size_t>(k)]; }  ///< 0 <= k <= q

  /// The first of q blocks that `rank` receives: round base_block(rank) < q; q for the root, 0.
  int base_block(int rank) const;

  /// Entry k: what `rank` receives in the rounds i with i mod q = k, counted from the blocks of the
  /// phase (negative: those of the phases before). O(log p).
  using Receives = std::array<std::int8_t, kMaxLog>;
  Receives receive_schedule(int rank) const;

 private:
  int size_;
  int q_ = 0;
  std::array<int, kMaxLog + 1> skip_{};
};

/// What one rank does when rank 0 broadcasts n blocks. O(log^2 p) time, O(log p) memory. Read
/// backwards, with senders and receivers exchanged, it is a reduction to rank 0: nothing is
/// delivered twice.
class CirculantBroadcast {
 public:
  CirculantBroadcast(int size, int rank, Count blocks);

  Count rounds() const { return rounds_; }
  BroadcastRound round(Count i) const;
  /// The rank that sends nothing in round i because it would be to the root.
  int idle_rank(Count i) const;

 private:
  Count block(const Circulant::Receives& schedule, Count i) const;

  Circulant graph_;
  int rank_;
  Count blocks_;
  Count rounds_;
  Count idle_ = 0;  // rounds left out before the first, so that the last one ends a phase
  Circulant::Receives own_{};
  std::array<Circulant::Receives, kMaxLog> next_{};  // of rank + skip(k)
};

}  // namespace unisono
