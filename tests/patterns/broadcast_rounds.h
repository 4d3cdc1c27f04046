// Whole broadcasts, as plans of rounds say.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "patterns/broadcast_round.h"

namespace unisono {

/// Runs all rounds: every rank gets every block, once, from one who had it before the round and who
/// means this rank.
template <class Plan>
void expect_broadcast(int p, Count blocks, Count most_rounds) {
  SCOPED_TRACE("p=" + std::to_string(p) + " blocks=" + std::to_string(blocks));
  std::vector<Plan> plans;
  Count rounds = 0;
  for (int r = 0; r < p; ++r) {
    plans.emplace_back(p, r, blocks);
    rounds = std::max(rounds, plans.back().rounds());
  }
  ASSERT_LE(rounds, most_rounds);
  std::vector<std::set<Count>> has(static_cast<std::size_t>(p));
  for (Count k = 0; k < blocks; ++k) has[0].insert(k);
  for (Count i = 0; i < rounds; ++i) {
    const auto before = has;
    for (int r = 0; r < p; ++r) {
      const BroadcastRound round = plans[static_cast<std::size_t>(r)].round(i);
      if (round.received >= 0) {
        const BroadcastRound from = plans[static_cast<std::size_t>(round.from)].round(i);
        ASSERT_EQ(from.to, r) << "round " << i << " from " << round.from;
        ASSERT_EQ(from.sent, round.received)
            << "round " << i << " from " << round.from << " to " << r;
      }
      if (round.sent < 0) continue;
      const BroadcastRound to = plans[static_cast<std::size_t>(round.to)].round(i);
      ASSERT_EQ(to.from, r) << "round " << i << " to " << round.to;
      ASSERT_EQ(to.received, round.sent) << "round " << i << " from " << r << " to " << round.to;
      ASSERT_TRUE(before[static_cast<std::size_t>(r)].contains(round.sent)) << "rank " << r;
      ASSERT_TRUE(has[static_cast<std::size_t>(round.to)].insert(round.sent).second)
          << "rank " << round.to << " gets block " << round.sent << " again in round " << i;
    }
  }
  for (const auto& of_rank : has) ASSERT_EQ(static_cast<Count>(of_rank.size()), blocks);
}

}  // namespace unisono
