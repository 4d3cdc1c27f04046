// The circulant schedules: the conditions that make them correct, for all p up to 600 and for large
// ones; whole broadcasts; and what one rank among a million pays.
#include "patterns/circulant.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "algorithms/catalogue.h"
#include "tests/patterns/broadcast_rounds.h"

namespace unisono {
namespace {

std::set<int> as_set(const Circulant::Receives& receives, int q) {
  return {receives.begin(), receives.begin() + q};
}

// In the phase in which a rank gets its base block b it receives b and, of the blocks -q..-1 of the
// phases before, all but b - q; the root would receive all of those.
void expect_receives_each_block_once(const Circulant& graph, int rank) {
  const int q = graph.rounds();
  std::set<int> wanted;
  for (int block = -q; block < 0; ++block) wanted.insert(block);
  if (rank != 0) {
    wanted.erase(graph.base_block(rank) - q);
    wanted.insert(graph.base_block(rank));
  }
  EXPECT_EQ(as_set(graph.receive_schedule(rank), q), wanted)
      << "p=" << graph.size() << " rank=" << rank;
}

// What a rank sends in round k, it has received in an earlier round of the phase, or it is the base
// block of the phase before; the root sends new blocks in turn.
void expect_sends_what_it_has(const Circulant& graph, int rank) {
  const int p = graph.size();
  const int q = graph.rounds();
  const auto receives = graph.receive_schedule(rank);
  for (int k = 0; k < q; ++k) {
    const auto to = static_cast<int>((std::int64_t{rank} + graph.skip(k)) % p);
    const int sent = graph.receive_schedule(to)[static_cast<std::size_t>(k)];
    const bool has_it =
        rank == 0 ? sent == k
                  : sent == graph.base_block(rank) - q || as_set(receives, k).contains(sent);
    EXPECT_TRUE(has_it) << "p=" << p << " rank=" << rank << " round " << k << " block " << sent;
  }
}

TEST(Circulant, SkipsHalve) {
  const Circulant graph(33);
  EXPECT_EQ(graph.rounds(), 6);
  std::vector<int> skips;
  for (int k = 0; k <= graph.rounds(); ++k) skips.push_back(graph.skip(k));
  EXPECT_EQ(skips, (std::vector<int>{1, 2, 3, 5, 9, 17, 33}));
}

TEST(Circulant, SchedulesAreCorrectForAllSmallSizes) {
  for (int p = 1; p <= 600; ++p) {
    const Circulant graph(p);
    for (int rank = 0; rank < p; ++rank) {
      expect_receives_each_block_once(graph, rank);
      expect_sends_what_it_has(graph, rank);
    }
    if (HasFailure()) return;
  }
}

TEST(Circulant, SchedulesAreCorrectForLargeSizes) {
  std::mt19937 random(20240718);
  std::vector<int> sizes = {1 << 20, (1 << 20) + 1, 1 << 30, (1 << 30) + 1, 2147483647};
  for (int i = 0; i < 60; ++i)
    sizes.push_back(std::uniform_int_distribution<int>(4096, 1 << 24)(random));
  for (const int p : sizes) {
    const Circulant graph(p);
    std::uniform_int_distribution<int> any_rank(0, p - 1);
    for (int i = 0; i < 60; ++i) {
      const int rank = i == 0 ? 0 : i == 1 ? p - 1 : any_rank(random);
      expect_receives_each_block_once(graph, rank);
      expect_sends_what_it_has(graph, rank);
    }
    if (HasFailure()) return;
  }
}

TEST(CirculantBroadcast, DeliversEveryBlockOnce) {
  for (int p = 2; p <= 130; ++p) {
    const Count q = Circulant(p).rounds();
    for (const Count n : {Count{1}, Count{2}, Count{3}, q, q + 1, 2 * q + 3})
      expect_broadcast<CirculantBroadcast>(p, n, n - 1 + q);
    if (HasFatalFailure()) return;
  }
}

TEST(CirculantBroadcast, NothingToDo) {
  EXPECT_EQ(CirculantBroadcast(1, 0, 5).rounds(), 0);
  EXPECT_EQ(CirculantBroadcast(7, 3, 0).rounds(), 0);
}

// A schedule costs what its rank does, whatever the number of ranks.
TEST(MillionRanks, BcastSchedulesAreSmall) {
  constexpr int kRanks = 1'000'000;
  constexpr int kLog = 20;
  constexpr Count kSegments = 64;
  for (const char* name : {"circulant", "chain", "two_tree", "fractional_tree"})
    for (const int rank : {0, 1, 123'456, kRanks / 2, kRanks - 1}) {
      const Algorithm* row = find_algorithm(Collective::bcast, name);
      ASSERT_NE(row, nullptr);
      Args args;
      args.collective = Collective::bcast;
      args.rank = rank;
      args.size = kRanks;
      args.root = 0;
      args.count = 1 << 20;
      args.params = default_params(*row);
      args.params.segment = args.count / kSegments;
      const Schedule schedule = build(*row, args);
      EXPECT_LT(schedule.bytes(), std::size_t{64} * 1024) << name << " rank " << rank;
      EXPECT_LE(schedule.ops().size(), std::size_t{2 * (kSegments - 1 + kLog)})
          << name << " rank " << rank;
      Count received = 0;
      for (const Op& op : schedule.ops())
        if (op.kind == OpKind::recv) received += op.length;
      EXPECT_EQ(received, rank == 0 ? 0 : args.count) << name << " rank " << rank;
    }
}

}  // namespace
}  // namespace unisono
