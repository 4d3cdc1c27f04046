// Every rank gets the same bits from an Allreduce: its sums are combined in the same order,
// operands on the same sides.
#include <gtest/gtest.h>

#include "algorithms/catalogue.h"
#include "patterns/arrival.h"
#include "schedule/problem.h"
#include "tests/algorithms/interpreter.h"
#include "tests/algorithms/on_tori.h"

namespace unisono {
namespace {

TEST(Allreduce, GivesAllRanksTheSameBits) {
  for (const Algorithm& row : catalogue()) {
    if (!contains(row.collectives, Collective::allreduce)) continue;
    for (const int p : {2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 16, 27, 31, 33})
      for (const bool in_place : {false, true})
        for (const auto& topology : on_tori(p)) {
          Problem problem{.collective = Collective::allreduce,
                          .size = p,
                          .count = 2 * p + 5,
                          .in_place = in_place,
                          .params = default_params(row),
                          .topology = topology.get()};
          if ((row.restrictions & kPredicts) != 0) problem.params.late = intern({p / 2, 0});
          const ArgsOfRanks ranks(problem);
          if (unmet_restriction(row, ranks[0])) continue;
          Trees trees(Trees::Sides::matter);
          const Interpreter run(ranks.args(), row, trees);
          ASSERT_TRUE(run.complete()) << row.name << " p=" << p;
          for (int r = 1; r < p; ++r)
            ASSERT_EQ(run.output(static_cast<std::size_t>(r)), run.output(0))
                << row.name << " p=" << p << " in_place=" << in_place << " rank " << r;
        }
  }
}

}  // namespace
}  // namespace unisono
