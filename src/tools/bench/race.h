// Racing arms: which of a cell's arms need no further blocks, and when the cell is settled.
//
// Times of collectives have heavy tails (a lost packet costs TCP 200 ms), so that everything is
// decided by medians and by intervals between order statistics, of ratios paired by block. After
// Maron, Moore: Hoeffding races (NIPS 1993), with those intervals in the place of Hoeffding's.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace unisono::bench {

struct RaceRules {
  double margin = 0.02;      ///< smaller differences are not worth a block
  double hopeless = 5;       ///< times the fastest: one look is enough, if that look was
  double long_call = 0.5;    ///< seconds, which is more than a lost packet costs
  double short_call = 5e-3;  ///< seconds, below which the fewest blocks cost next to nothing
  int fewest_blocks = 6;     ///< the fewest whose range is a 95 % interval of the median
};

/// What is known of an arm. Arms start together and leave for good, so that the k-th times of two
/// arms are of the same block.
struct Racer {
  std::vector<double> times;  ///< seconds, one per block
  bool runs = true;           ///< still in the race
};

struct Verdict {
  std::vector<std::size_t> leave;  ///< arms that need no further blocks; never `native`
  bool settled = false;            ///< nothing that further blocks could tell
};

/// An arm leaves that is surely slower than the fastest, or surely no faster than native by the
/// margin. `native` is an index. The same times give the same verdict on every rank.
Verdict judge(std::span<const Racer> racers, std::size_t native, const RaceRules& rules);

/// The arms that leave when time is short: all but native and the `staying` fastest.
std::vector<std::size_t> all_but_fastest(std::span<const Racer> racers, std::size_t native,
                                         std::size_t staying);

/// Whether an arm that took so long, when the fastest took `fastest` (seconds), need not be looked
/// at again.
bool hopeless_at_once(double once, double fastest, const RaceRules& rules);

}  // namespace unisono::bench
