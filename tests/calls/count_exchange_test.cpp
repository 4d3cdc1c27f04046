// Counts of all ranks, exchanged by hand: what each rank contributes is copied to all others.
#include "calls/count_exchange.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "schedule/problem.h"

namespace unisono {

namespace {

using Exchanges = std::vector<std::unique_ptr<CountExchange>>;

/// Bytes of this rank's part of the memory, and where they are.
Slice part_of(const CountExchange& exchange, int rank) {
  return exchange.args().output_block(rank);
}

void exchange(Exchanges& all) {
  const int p = static_cast<int>(all.size());
  for (int from = 0; from < p; ++from) {
    CountExchange& source = *all[static_cast<std::size_t>(from)];
    const Slice part = part_of(source, from);
    for (auto& target : all) {
      ASSERT_EQ(part_of(*target, from), part) << "ranks think differently of rank " << from;
      std::memmove(target->memory() + part.offset, source.memory() + part.offset,
                   static_cast<std::size_t>(part.length));
    }
  }
}

/// Bytes that one rank has received.
Count run(const Problem& problem, const Algorithm& algorithm) {
  const ArgsOfRanks ranks(problem);
  Exchanges all;
  for (const Args& args : ranks.args())
    all.push_back(std::make_unique<CountExchange>(algorithm, args));
  Count bytes = 0;
  for (bool more = true; more;) {
    EXPECT_TRUE(all[0]->is_needed());
    exchange(all);
    bytes += all[0]->args().output().length;
    more = false;
    for (auto& one : all) more = one->has_next();
  }
  const CountMatrix expected(problem.counts, problem.size);
  for (const auto& one : all) EXPECT_TRUE(one->matrix() == expected);
  return bytes;
}

TEST(CountExchange, RowsOfManyRanksWithoutWhatIsEmpty) {
  const Algorithm& algorithm = *find_algorithm(Collective::alltoallv, "token_list");
  for (const int p : {2, 5, CountExchange::kMostWholeRows, CountExchange::kMostWholeRows + 1, 200})
    for (const int every : {1, 3, 90}) {
      Problem problem{.collective = Collective::alltoallv, .size = p};
      Count entries = 0;
      for (int i = 0; i < p * p; ++i) {
        problem.counts.push_back(i % every == 0 && i / p != 1 ? i + 1 : 0);
        entries += problem.counts.back() > 0 ? 1 : 0;
      }
      problem.share_counts = false;
      const Count bytes = run(problem, algorithm);
      EXPECT_EQ(bytes, p <= CountExchange::kMostWholeRows ? 8 * p * p : 8 * p + 16 * entries);
    }
}

TEST(CountExchange, NothingIsAskedForABlockingRing) {
  const Algorithm& ring = *find_algorithm(Collective::alltoallv, "ring");
  Problem problem{.collective = Collective::alltoallv, .size = 4, .count = 3};
  EXPECT_FALSE(CountExchange(ring, ArgsOfRanks(problem)[2]).is_needed());
}

}  // namespace
}  // namespace unisono
