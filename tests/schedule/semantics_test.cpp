// The table against MPI 4.1, told once more in its own words.
#include "schedule/semantics.h"

#include <gtest/gtest.h>

#include "schedule/collective.h"
#include "schedule/problem.h"

namespace unisono {
namespace {

using enum Collective;

CollectiveSet with(InPlace where) {
  return set_where([where](const Semantics& s) { return s.in_place == where; });
}

TEST(Semantics, InPlaceStandsWhereMpiSays) {
  EXPECT_EQ(with(InPlace::root_send), set_of(gather, gatherv, reduce));
  EXPECT_EQ(with(InPlace::root_receive), set_of(scatter, scatterv));
  EXPECT_EQ(with(InPlace::all), set_of(allgather, allgatherv, alltoall, alltoallv, alltoallw,
                                       allreduce, reduce_scatter_block));
  EXPECT_EQ(with(InPlace::each), set_of(reduce_scatter, scan, exscan));
  EXPECT_EQ(with(InPlace::nowhere),
            set_of(barrier, bcast) | (~kAmongAll & set_where([](auto&) { return true; })));
}

TEST(Semantics, NobodyKnowsTheBytesWhereCountsAreARanksOwn) {
  EXPECT_EQ(set_where([](const Semantics& s) {
              return s.knows_bytes != Who::all && s.peers == Peers::all;
            }),
            set_of(gatherv, scatterv, alltoallv, alltoallw));
}

TEST(Semantics, NamesAreThoseOfTheEnumerators) {
  for (const Semantics& row : kSemantics) {
    EXPECT_EQ(collective_named(row.name), row.collective);
    EXPECT_EQ(semantics(row.regular).regular, row.regular) << row.name;
    EXPECT_FALSE(is_irregular(row.regular)) << row.name;
  }
  EXPECT_EQ(name(reduce_scatter_block), "reduce_scatter_block");
  EXPECT_EQ(kCollectives, 22);
}

TEST(Problem, RanksDifferInPlaceWhereMpiLetsThem) {
  for (const Semantics& row : kSemantics) {
    if (row.peers != Peers::all) continue;
    int in_place = 0;
    for (unsigned differ = 1; differ <= 4; ++differ) {
      const ArgsOfRanks ranks({.collective = row.collective,
                               .size = 16,
                               .root = 3,
                               .count = 2,
                               .in_place = true,
                               .differ = differ});
      for (const Args& args : ranks.args()) in_place += args.in_place ? 1 : 0;
    }
    switch (row.in_place) {
      case InPlace::nowhere: EXPECT_EQ(in_place, 0) << row.name; break;
      case InPlace::root_send:
      case InPlace::root_receive: EXPECT_EQ(in_place, 4) << row.name; break;
      case InPlace::all: EXPECT_EQ(in_place, 64) << row.name; break;
      case InPlace::each: EXPECT_GT(in_place, 10) << row.name; EXPECT_LT(in_place, 54) << row.name;
    }
  }
}

}  // namespace
}  // namespace unisono
