#include "select/selector.h"

#include <gtest/gtest.h>

#include "algorithms/catalogue.h"

namespace unisono {
namespace {

constexpr Place kPlaces[] = {Place::undersubscribed, Place::oversubscribed, Place::ethernet,
                             Place::elsewhere};

// What is left at the first look would have been left at the second.
TEST(Selector, CoversWhateverItChooses) {
  int chosen = 0;
  for (const char* flavour : {"mpich", "intel", "openmpi", "abi"})
    for (const Place place : kPlaces) {
      const Selector selector(flavour, place);
      for (int c = 0; c < kCollectives; ++c)
        for (int size = 2; size <= 40; ++size)
          for (Count bytes = 0; bytes <= Count{1} << 24; bytes = 2 * bytes + 1) {
            const auto collective = static_cast<Collective>(c);
            bool any = false;
            for (const bool commutative : {true, false})
              for (const bool shared : {true, false})
                any |=
                    selector.choose({collective, size, bytes, commutative, 1, shared}).algorithm !=
                    nullptr;
            EXPECT_TRUE(!any || selector.covers({collective, size, bytes}));
            EXPECT_TRUE(!any || selector.reach(collective, size, 1).holds(bytes));
            chosen += any;
          }
    }
  EXPECT_GT(chosen, 0);
}

TEST(Selector, NeverChoosesWhatCannotServe) {
  const Selector selector("mpich", Place::oversubscribed);
  for (int c = 0; c < kCollectives; ++c)
    for (int size = 2; size <= 40; ++size) {
      const Choice choice = selector.choose({static_cast<Collective>(c), size, 1024, false});
      if (choice.algorithm != nullptr) {
        EXPECT_FALSE(unmet_restriction(*choice.algorithm, {size, false}));
      }
    }
}

TEST(Selector, CoversTheForcedAndNotTheNative) {
  Selector selector("mpich", Place::oversubscribed);
  ASSERT_TRUE(selector.force(Collective::bcast, "chain"));
  EXPECT_TRUE(selector.covers({Collective::bcast, 1000, 1}));
  ASSERT_TRUE(selector.force(Collective::bcast, "native"));
  EXPECT_FALSE(selector.covers({Collective::bcast, 4, 8}));
}

TEST(Selector, SharedMemoryServesWhatTheFactsAllow) {
  for (int c = 0; c < kCollectives; ++c) {
    if (!contains(kAmongAll, static_cast<Collective>(c))) continue;
    Facts facts{static_cast<Collective>(c), 5, 1000, false};
    Selector selector("mpich", Place::undersubscribed);
    ASSERT_TRUE(selector.force(facts.collective, "shm"));
    const Choice refused = selector.choose(facts);
    EXPECT_EQ(refused.algorithm, nullptr);
    ASSERT_NE(refused.unmet, nullptr);
    EXPECT_EQ(refused.unmet->name, "shm");
    EXPECT_TRUE(refused.why.starts_with("needs all ranks on one node")) << refused.why;
    EXPECT_EQ(refused.why.ends_with("a predefined datatype"), is_reducing(facts.collective));
    facts.shared = true;
    const Choice choice = selector.choose(facts);
    ASSERT_NE(choice.algorithm, nullptr);
    EXPECT_EQ(choice.algorithm->name, "shm");
  }
}

TEST(Selector, MessagesOverSharedMemoryNeedIt) {
  Facts facts{Collective::allreduce, 5, 1000, false};
  Selector selector("mpich", Place::undersubscribed);
  for (const char* spec : {"recursive_doubling:transport=shm", "grid:transport=shm"}) {
    ASSERT_TRUE(selector.force(facts.collective, spec));
    facts.messages = false;
    EXPECT_EQ(selector.choose(facts).algorithm, nullptr);
    EXPECT_TRUE(selector.choose(facts).why.starts_with("needs all ranks on one node"));
    facts.messages = true;
    EXPECT_NE(selector.choose(facts).algorithm, nullptr);
    EXPECT_EQ(selector.choose(facts).params.transport, TransportKind::shm);
  }
}

TEST(Selector, GoesOnWhereThereIsNoSharedMemory) {
  Facts facts{Collective::bcast, 4, 512};
  Selector selector("mpich", Place::oversubscribed);
  const Choice standard = selector.choose(facts);
  selector.use({{Collective::bcast, 4, 1, 0, 1024, *parse_spec(Collective::bcast, "shm")}},
               "profile p");
  EXPECT_EQ(selector.choose(facts).algorithm, standard.algorithm);
  EXPECT_EQ(selector.choose(facts).why, standard.why);
  facts.shared = true;
  EXPECT_EQ(selector.choose(facts).algorithm, find_algorithm(Collective::bcast, "shm"));
  EXPECT_EQ(selector.choose(facts).why, "profile p");
}

// Neither times nor what an earlier job has learned may choose between two orders.
TEST(Selector, SumsOnANodeHaveTheOrderOfTheKernelsInAllRuns) {
  const auto prepared = [](Reproducible what) {
    Selector selector("openmpi", Place::undersubscribed);
    selector.reproduce(what);
    selector.use({{Collective::scan, 4, 1, 0, 1 << 20, {}}}, "remembered", true);
    selector.leave_online({kAmongAll, kAmongAll});
    return selector;
  };
  const Selector runs = prepared(Reproducible::runs);
  for (int c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    if (!is_reducing(collective)) continue;
    for (const Count bytes : {0, 8, 1 << 14, 1 << 22}) {
      Facts facts{collective, 4, bytes, true, 1, true, true};
      facts.order_matters = true;
      EXPECT_FALSE(runs.is_online(facts));
      EXPECT_TRUE(runs.covers(facts));
      const Choice choice = runs.choose(facts);
      ASSERT_NE(choice.algorithm, nullptr) << name(collective);
      const bool is_scan = collective == Collective::scan || collective == Collective::exscan;
      EXPECT_EQ(choice.algorithm->combining.order, is_scan ? Order::left : Order::folded);
      EXPECT_EQ(choice.algorithm->combining.depends_on, 0U);
      EXPECT_TRUE(choice.keeps_order);
      const bool is_remembered = collective == Collective::scan && bytes <= 1 << 20;
      EXPECT_EQ(prepared(Reproducible::off).is_online(facts), !is_remembered);
      facts.shared = false;
      EXPECT_EQ(runs.choose(facts).algorithm, nullptr);
      facts = {collective, 4, bytes, true, 1, true, true};
      EXPECT_EQ(runs.is_online(facts), !is_remembered);
      facts.order_matters = true;
      facts.nodes = 2;
      EXPECT_TRUE(runs.is_online(facts));
    }
  }
}

TEST(Selector, WhatTheUserNamesComesBeforeTheOrder) {
  Selector selector("openmpi", Place::undersubscribed);
  selector.leave_online({kAmongAll, kAmongAll});
  selector.reproduce(Reproducible::runs);
  selector.use({{Collective::scan, 4, 1, 0, 8, *parse_spec(Collective::scan, "chain")}},
               "profile p");
  ASSERT_TRUE(selector.force(Collective::allreduce, "ring"));
  Facts facts{Collective::allreduce, 4, 8, true, 1, true, true};
  facts.order_matters = true;
  EXPECT_EQ(selector.choose(facts).why, "forced");
  facts.collective = Collective::scan;
  EXPECT_EQ(selector.choose(facts).why, "profile p");
}

// Wherever the ranks are, and whatever is known or learned there.
TEST(Selector, AFixedOrderLooksAtRanksAndLengthAlone) {
  Selector selector("openmpi", Place::undersubscribed);
  selector.reproduce(Reproducible::placement);
  selector.leave_online({kAmongAll, kAmongAll});
  selector.use(
      {{Collective::allreduce, 4, 1, 0, 1 << 20, *parse_spec(Collective::allreduce, "shm")}}, "p");
  for (int c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    if (!is_reducing(collective)) continue;
    for (int size = 2; size <= 9; ++size)
      for (const Count bytes : {0, 8, 1 << 14, 1 << 20})
        for (const bool commutative : {true, false}) {
          const Choice here =
              selector.choose({collective, size, bytes, commutative, 1, true, true});
          ASSERT_NE(here.algorithm, nullptr) << name(collective);
          EXPECT_TRUE(here.is_asked_for);
          EXPECT_EQ(here.algorithm,
                    selector.choose({collective, size, bytes, commutative, size}).algorithm);
          EXPECT_FALSE(selector.is_online({collective, size, bytes, commutative, size}));
          EXPECT_TRUE(selector.covers({collective, size, bytes, commutative}));
        }
    EXPECT_TRUE(selector.reach(collective, 4, 2).holds(Count{1} << 40));
    EXPECT_TRUE(contains(selector.candidates(), collective));
  }
  EXPECT_TRUE(selector.is_online({Collective::bcast, 4, 8, true, 2}));
  ASSERT_TRUE(selector.force(Collective::reduce, "flat"));
  EXPECT_EQ(selector.choose({Collective::reduce, 4, 8}).algorithm->name, "flat");
}

TEST(Selector, TheTableKnowsNothingOfNetworks) {
  for (const Place place : {Place::ethernet, Place::elsewhere})
    EXPECT_EQ(Selector("mpich", place).candidates(), 0U);
}

TEST(Selector, OnlineIsWhatIsNeitherForcedNorInTheProfile) {
  Selector selector("mpich", Place::elsewhere);
  selector.leave_online({set_of(Collective::bcast, Collective::barrier)});
  ASSERT_TRUE(selector.force(Collective::barrier, "native"));
  selector.use({{Collective::bcast, 4, 1, 100, 200, *parse_spec(Collective::bcast, "native")}},
               "p");
  EXPECT_TRUE(selector.is_online({Collective::bcast, 4, 99}));
  EXPECT_TRUE(selector.covers({Collective::bcast, 4, 99}));
  EXPECT_FALSE(selector.is_online({Collective::bcast, 4, 100}));
  EXPECT_FALSE(selector.covers({Collective::bcast, 4, 100}));
  EXPECT_FALSE(selector.is_online({Collective::barrier, 4, 0}));
  EXPECT_FALSE(selector.is_online({Collective::reduce, 4, 99}));
  EXPECT_EQ(selector.candidates(), set_of(Collective::bcast));
  EXPECT_TRUE(selector.reach(Collective::bcast, 4, 1).holds(Count{1} << 40));
  EXPECT_FALSE(selector.reach(Collective::barrier, 4, 1).holds(0));
}

Selector between_hosts(Reproducible what = Reproducible::runs) {
  Selector selector("mpich", Place::ethernet);
  selector.reproduce(what);
  selector.leave_online({0, kAmongAll, true});
  selector.lead_safely();
  return selector;
}

// What is found out between nodes is left or passed by size class.
TEST(Selector, BetweenNodesACellOfTheProfileDecidesForItsClass) {
  Selector selector = between_hosts();
  selector.use(
      {{Collective::bcast, 4, 4, 100'000, 100'000, *parse_spec(Collective::bcast, "binomial")}},
      "p");
  const auto call = [](Count bytes) {
    return Facts{.collective = Collective::bcast, .size = 4, .bytes = bytes, .nodes = 4};
  };
  EXPECT_EQ(selector.choose(call(100'000)).algorithm->name, "binomial");
  EXPECT_EQ(selector.choose(call(110'000)).algorithm->name, "chain");
  EXPECT_FALSE(selector.is_online(call(100'000)));
  EXPECT_FALSE(selector.is_online(call(110'000)));
  EXPECT_TRUE(selector.is_online(call(200'000)));
}

TEST(Selector, BetweenNodesASafeArmLeadsAndIsCheckedUnlessItKeepsAnOrder) {
  Facts facts{.collective = Collective::allreduce, .size = 16, .bytes = 1 << 20, .nodes = 16};
  for (const bool matters : {false, true})
    for (const Reproducible what : {Reproducible::runs, Reproducible::off}) {
      const Selector selector = between_hosts(what);
      facts.order_matters = matters;
      EXPECT_EQ(selector.choose(facts).algorithm->name, "ring");
      EXPECT_EQ(selector.choose(facts).why, "safe");
      EXPECT_TRUE(selector.covers(facts));
      EXPECT_EQ(selector.is_online(facts), !matters || what == Reproducible::off);
    }
}

// What is not always faster waits for a check.
TEST(Selector, BetweenNodesALongAlltoallBeginsNatively) {
  const Selector selector = between_hosts();
  const Facts facts{.collective = Collective::alltoall, .size = 9, .bytes = 128 << 10, .nodes = 9};
  EXPECT_EQ(selector.choose(facts).algorithm, nullptr);
  EXPECT_TRUE(selector.is_online(facts));
  EXPECT_TRUE(selector.covers(facts));
}

// Short calls are not looked at.
TEST(Selector, BetweenNodesShortCallsAreOutOfReach) {
  const Selector selector = between_hosts();
  for (int c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    for (const int nodes : {2, 3, 9, 40})
      for (Count bytes = 1; bytes < Count{8} << 20; bytes *= 2) {
        const Facts facts{.collective = collective, .size = nodes, .bytes = bytes, .nodes = nodes};
        if (selector.choose(facts).algorithm == nullptr) continue;
        EXPECT_TRUE(selector.reach(collective, nodes, nodes).holds(bytes)) << name(collective);
        EXPECT_GE(bytes, 4096) << name(collective);
      }
  }
  EXPECT_TRUE(selector.reach(Collective::barrier, 9, 9).is_empty());
}

TEST(Selector, WithinANodeTheTableIsPriorKnowledge) {
  const auto call = [](int size) { return Facts{Collective::bcast, size, 1024}; };
  for (const Place place : {Place::undersubscribed, Place::oversubscribed}) {
    Selector selector("openmpi", place);
    // As where there is no network.
    selector.leave_online({.collectives = 0, .in_node = kAmongAll});
    for (const int size : {2, 4, 6}) {  // of which the table knows two
      EXPECT_TRUE(selector.is_online(call(size)));
      EXPECT_TRUE(selector.covers(call(size)));
    }
    EXPECT_FALSE(selector.is_online({.collective = Collective::bcast, .size = 4, .nodes = 2}));
  }
}

// What a duel finds out holds for a class of sizes.
TEST(Selector, WhereACellEndsWithinAClassItDecides) {
  Selector selector("openmpi", Place::undersubscribed);
  selector.leave_online({0, kAmongAll, true});
  EXPECT_TRUE(selector.is_online({Collective::bcast, 6, 10}));
  selector.use({{Collective::bcast, 6, 1, 8, 9, *parse_spec(Collective::bcast, "shm")}}, "p");
  EXPECT_FALSE(selector.is_online({Collective::bcast, 6, 10})) << "in the class of 8 to 11";
  EXPECT_TRUE(selector.is_online({Collective::bcast, 6, 12}));
  Selector shared("mpich", Place::oversubscribed);
  shared.leave_online({0, kAmongAll, true});
  EXPECT_FALSE(shared.is_online({Collective::bcast, 3, 10})) << "a row ends at 8 bytes";
  EXPECT_TRUE(shared.is_online({Collective::bcast, 3, 1 << 20}));
}

// The row may be wrong: it is only what is thought to be better.
TEST(Selector, ARowOfTheOtherWayMayEndWithinAClass) {
  Selector shared("openmpi", Place::oversubscribed);
  shared.leave_online({0, kAmongAll, true});
  const auto call = [](Count bytes) { return Facts{Collective::gather, 4, bytes, true, 1, true}; };
  constexpr Count kLast = 4 << 20;
  EXPECT_NE(shared.choose(call(kLast)).algorithm, nullptr);
  EXPECT_EQ(shared.choose(call(kLast + 1)).algorithm, nullptr) << "the row ends at 4 MiB";
  EXPECT_TRUE(shared.is_online(call(kLast)));
  EXPECT_TRUE(shared.is_online(call(kLast + 1)));
}

TEST(Selector, WithinANodeOfSeveralOnlyKernelsAreLeftOnline) {
  Selector selector("openmpi", Place::ethernet);
  const Facts within{.collective = Collective::bcast, .size = 16, .bytes = 1 << 20, .nodes = 1};
  EXPECT_EQ(selector.choose(within).algorithm, nullptr);
  EXPECT_FALSE(selector.covers(within));
  EXPECT_FALSE(selector.reach(Collective::bcast, 16, 1).holds(1 << 20));
  selector.leave_online({kAmongAll, kAmongAll, true});
  EXPECT_TRUE(selector.is_online(within));
}

// Where ranks share cores and the MPI library's own lets them run ahead.
TEST(Selector, ShortOneWayCallsOfOpenMpiBeginNatively) {
  const auto begins = [](const char* flavour, Place place, Collective collective, Count bytes) {
    return Selector(flavour, place)
               .choose({.collective = collective, .size = 4, .bytes = bytes, .shared = true})
               .algorithm != nullptr;
  };
  for (const Collective one_way : {Collective::bcast, Collective::scan, Collective::gather}) {
    EXPECT_FALSE(begins("openmpi", Place::oversubscribed, one_way, 8));
    EXPECT_TRUE(begins("mpich", Place::oversubscribed, one_way, 8));
  }
  EXPECT_TRUE(begins("openmpi", Place::oversubscribed, Collective::bcast, 128));
  EXPECT_TRUE(begins("openmpi", Place::oversubscribed, Collective::allreduce, 8));
  EXPECT_TRUE(begins("openmpi", Place::oversubscribed, Collective::scatterv, 0));
}

}  // namespace
}  // namespace unisono
