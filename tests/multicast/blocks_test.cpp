// The building blocks by themselves: rate, tree, repairs, copies, what came early.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "multicast/early.h"
#include "multicast/hearing.h"
#include "multicast/history.h"
#include "multicast/pacer.h"
#include "multicast/pieces.h"
#include "multicast/repairs.h"
#include "multicast/tree.h"

namespace unisono::multicast {
namespace {

TEST(Pacer, KeepsTheRateAfterABurst) {
  Pacer pacer(80e6, 5000);  // 10 bytes a microsecond
  Time now = kSecond;
  double sent = 0;
  for (const Time end = now + kSecond; now < end;) {
    while (pacer.allowed(now) >= 1000) {
      pacer.take(1000);
      sent += 1000;
    }
    const Time next = pacer.when(1000, now);
    ASSERT_GT(next, now);
    ASSERT_LE(next, now + 101 * kMicrosecond);
    now = next;
  }
  EXPECT_NEAR(sent, 1e7 + 5000, 2000);
}

TEST(Pacer, APauseIsWorthOneBurst) {
  Pacer pacer(80e6, 5000);
  pacer.allowed(kSecond);
  pacer.take(5000);
  EXPECT_EQ(pacer.backlog(), 500 * kMicrosecond);
  EXPECT_EQ(pacer.allowed(100 * kSecond), 5000);
  EXPECT_EQ(pacer.backlog(), 0);
}

TEST(Pacer, SlowsDownWhenMuchIsLostAndCreepsUpAgain) {
  Pacer pacer(80e6, 5000);
  const auto round = [&](std::uint32_t lost) {
    pacer.lost(lost);
    for (int packet = 0; packet < 64; ++packet) pacer.take(1);
    return pacer.share();
  };
  EXPECT_EQ(round(8), 1);  // here and there
  EXPECT_EQ(round(9), 0.75);
  for (int i = 0; i < 50; ++i) round(64);
  EXPECT_EQ(pacer.share(), 1.0 / 16);
  const auto cuts = pacer.cuts();
  EXPECT_LT(round(0), 0.1);
  for (int i = 0; i < 50; ++i) round(1);
  EXPECT_EQ(pacer.share(), 1);
  EXPECT_EQ(pacer.cuts(), cuts);
}

TEST(Tree, ParentsAndChildrenAgree) {
  for (const int members : {1, 2, 5, 16, 61})
    for (const int root : {0, members / 2, members - 1})
      for (const int fan_out : {1, 2, 4, members}) {
        const Tree tree(members, root, fan_out);
        std::multiset<int> found;
        for (int member = 0; member < members; ++member) {
          EXPECT_LE(tree.children(member), fan_out);
          for (int i = 0; i < tree.children(member); ++i) {
            const int child = tree.child(member, i);
            found.insert(child);
            EXPECT_EQ(tree.parent(child), member);
            EXPECT_TRUE(tree.is_above(member, child));
            EXPECT_FALSE(tree.is_above(child, member));
          }
          EXPECT_TRUE(tree.is_above(root, member));
          EXPECT_TRUE(tree.is_above(member, member));
        }
        EXPECT_EQ(found.size(), static_cast<std::size_t>(members - 1));
        EXPECT_EQ(found.count(root), 0u);
      }
}

TEST(Pieces, CoverTheMessage) {
  for (const std::uint64_t bytes : {0, 1, 99, 100, 101, 1000}) {
    const Pieces pieces{bytes, 100};
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < pieces.packets(); ++i) {
      EXPECT_EQ(pieces.offset(i), total);
      total += pieces.length(i);
      EXPECT_EQ(pieces.is_last(i), i + 1 == pieces.packets());
    }
    EXPECT_EQ(total, bytes);
  }
  EXPECT_TRUE(Pieces::can_be_cut(1440ULL << 31, 1440));
  EXPECT_FALSE(Pieces::can_be_cut(1440ULL << 32, 1440));
}

TEST(Repairs, GoToTwoAloneAndToMoreTogether) {
  const Timers timers;
  Repairs repairs;
  repairs.begin(10);
  EXPECT_EQ(repairs.due(), kNever);
  EXPECT_TRUE(repairs.ask(4, 1, 0, timers));
  EXPECT_FALSE(repairs.ask(4, 1, 0, timers));  // no news
  EXPECT_TRUE(repairs.ask(4, 2, 0, timers));
  for (const int member : {1, 2, 3}) EXPECT_TRUE(repairs.ask(7, member, 0, timers));
  EXPECT_EQ(repairs.due(), timers.sender_aggregate());
  std::multiset<std::string> sent;
  Repairs::Repair repair;
  while (repairs.next(repair)) {
    sent.insert(std::to_string(repair.index) + " to " + std::to_string(repair.to));
    repair.to == kEverybody ? repairs.done_for_all(0, timers) : repairs.done(0, timers);
  }
  EXPECT_EQ(sent, (std::multiset<std::string>{"4 to 1", "4 to 2", "7 to -1"}));
  // Requests that crossed the repair.
  EXPECT_FALSE(repairs.ask(4, 3, timers.sender_holdoff() - 1, timers));
  EXPECT_TRUE(repairs.ask(4, 3, timers.sender_holdoff(), timers));
}

TEST(Repairs, GoAloneWhenAllWasInVain) {
  const Timers timers;
  Repairs repairs;
  repairs.begin(10);
  Repairs::Repair repair;
  for (int round = 0; round < 3; ++round) {
    const Time now = round * timers.sender_holdoff();
    for (const int member : {1, 2, 3}) EXPECT_TRUE(repairs.ask(7, member, now, timers));
    ASSERT_TRUE(repairs.next(repair));
    EXPECT_EQ(repair.to, round < 2 ? kEverybody : 2);
    EXPECT_EQ(repairs.must_go_alone(), round == 2);
    round < 2 ? repairs.done_for_all(now, timers) : repairs.done(now, timers);
  }
  ASSERT_TRUE(repairs.next(repair));
  EXPECT_EQ(repair.to, 1);
  repairs.done(3 * timers.sender_holdoff(), timers);
  EXPECT_TRUE(repairs.is_empty());  // the third one asks again
}

TEST(Repairs, WhatIsNotHereWaitsForIt) {
  const Timers timers;
  Repairs repairs;
  repairs.begin(10);
  repairs.ask(4, 1, 0, timers);
  repairs.park();
  Repairs::Repair repair;
  EXPECT_FALSE(repairs.next(repair));
  repairs.arrived(5, 50);
  EXPECT_FALSE(repairs.next(repair));
  repairs.arrived(4, 50);
  EXPECT_EQ(repairs.due(), 50);
  ASSERT_TRUE(repairs.next(repair));
  EXPECT_EQ(repair.index, 4u);
  EXPECT_EQ(repair.to, 1);
}

TEST(Repairs, AParkedOneMayBeAskedForAgain) {
  const Timers timers;
  Repairs repairs;
  repairs.begin(10);
  repairs.ask(4, 1, 0, timers);
  repairs.park();
  repairs.ask(4, 2, 0, timers);
  repairs.arrived(4, 50);
  Repairs::Repair repair;
  int count = 0;
  for (; repairs.next(repair) && count < 10; ++count) repairs.done(0, timers);
  EXPECT_EQ(count, 2);
}

TEST(History, KeepsWithinItsBounds) {
  History history(2, 100, 60);
  const std::vector<std::byte> data(100, std::byte{5});
  EXPECT_FALSE(history.copy(data.data(), 61));  // too long
  const auto first = history.copy(data.data(), 60);
  ASSERT_TRUE(first);
  EXPECT_EQ(history.data(*first)[59], std::byte{5});
  EXPECT_FALSE(history.copy(data.data(), 41));  // too much
  ASSERT_TRUE(history.copy(nullptr, 0));
  EXPECT_FALSE(history.copy(nullptr, 0));  // too many
  history.forget(*first);
  EXPECT_TRUE(history.copy(data.data(), 60));
}

TEST(Early, GivesBackWhatItKeptOnce) {
  Early early(2, 80);
  std::vector<std::byte> one(80, std::byte{1});
  const std::vector<std::byte> two(kHeaderBytes + 3, std::byte{2});
  EXPECT_TRUE(early.keep(5, one));
  EXPECT_TRUE(early.keep(5, one));  // doubled on its way
  one[kPlainBytes - 1] = std::byte{2};
  EXPECT_TRUE(early.keep(5, one));  // sent again: of another number
  EXPECT_TRUE(early.keep(6, two));
  EXPECT_FALSE(early.keep(6, one));
  std::vector<std::size_t> lengths;
  const auto visit = [&](std::span<const std::byte> packet) { lengths.push_back(packet.size()); };
  early.release(4, visit);
  EXPECT_TRUE(lengths.empty());
  early.release(6, visit);  // and 5 will not be asked for any more
  EXPECT_EQ(lengths, std::vector<std::size_t>{kHeaderBytes + 3});
  EXPECT_TRUE(early.keep(7, one) && early.keep(7, two));
}

TEST(Hearing, LosesWhoIsSilentWhileItListens) {
  Hearing hearing(2, 100);
  hearing.listen(1000, kNever);
  hearing.heard(1);
  hearing.listen(1050, 1050);
  EXPECT_EQ(hearing.would_lose(1, 900), 1100);
  EXPECT_EQ(hearing.would_lose(1, 1040), 1140);
  EXPECT_EQ(hearing.would_lose(1, kNever), kNever);
  EXPECT_FALSE(hearing.loses(1, 900));
  hearing.listen(1200, 1100);  // it was away itself
  EXPECT_FALSE(hearing.loses(1, 900));
  hearing.listen(1310, 1300);
  EXPECT_TRUE(hearing.loses(1, 900));
  hearing.heard(1);
  EXPECT_FALSE(hearing.loses(1, 900));
  Hearing patient(2, 0);
  patient.listen(kNever - 1, kNever - 1);
  EXPECT_FALSE(patient.loses(1, 0));
}

}  // namespace
}  // namespace unisono::multicast
