// Everything that is sent comes, whatever the network does; nobody waits for ever, or sends more
// than it may.
#include "multicast/group.h"

#include <gtest/gtest.h>

#include <tuple>

#include "tests/multicast/made_up_network.h"

namespace unisono::multicast {
namespace {

using Case = std::tuple<Family, int, double>;

class Delivery : public testing::TestWithParam<Case> {};

// Messages of several roots, some short, some long, started in order and all under way at once.
TEST_P(Delivery, OfEverythingToEverybody) {
  const auto [family, members, loss] = GetParam();
  const int seeds = members > 16 ? 2 : 6;
  for (unsigned seed = 1; seed <= static_cast<unsigned>(seeds); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Weather weather;
    weather.loss = loss;
    if (loss > 0) {
      weather.doubled = 0.02;
      weather.cut = 0.01;
      weather.jitter = 300 * kMicrosecond;
    }
    Party party(members, weather, seed, [&](Options& options) {
      options.family = family;
      options.fan_out = 1 + static_cast<int>(seed) % 4;
      options.copied_bytes = 2000;
    });
    std::mt19937 random(seed);
    std::vector<Told> told;
    for (std::uint32_t i = 0; i < 8; ++i) {
      const std::size_t sizes[] = {0, 1, 255, 256, 257, 2000, 10000, 40000};
      told.emplace_back(party, 10 * i + seed, static_cast<int>(random() % party.groups.size()),
                        sizes[(i * 5 + seed) % 8]);
      told.back().start(party);
    }
    ASSERT_TRUE(party.run_until_all(told.size()));
    for (const Told& one : told) {
      EXPECT_TRUE(one.is_everywhere()) << "message " << one.number;
      for (const auto& outcome : party.outcomes)
        EXPECT_EQ(outcome.at(one.number).outcome, Outcome::done) << "message " << one.number;
    }
    const Counters counters = party.total();
    EXPECT_EQ(counters.senseless, 0u);
    if (loss == 0) {
      EXPECT_EQ(counters.repairs_to_all + counters.repairs_to_one, 0u);
      EXPECT_EQ(counters.duplicates, 0u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Delivery,
                         testing::Combine(testing::Values(Family::ack, Family::nack),
                                          testing::Values(2, 3, 7, 16, 64),
                                          testing::Values(0, 0.01, 0.05, 0.3)));

// Whoever is idle does not come again: its program may wait for the sender's in other ways.
TEST(Group, NobodyIsIdleWhomTheSenderMayStillAsk) {
  for (const Family family : {Family::ack, Family::nack})
    for (unsigned seed = 1; seed <= 40; ++seed) {
      Party party(5, {.loss = 0.3}, seed, [&](Options& options) { options.family = family; });
      Told told(party, 1, 0, 3 * Party::kPayload);
      told.start(party);
      const bool all = party.run([&] {
        bool any = false;
        for (int member = 1; member < party.size(); ++member) {
          const auto i = static_cast<std::size_t>(member);
          if (party.group(member).is_idle()) party.asleep_until[i] = kNever;
          any = any || party.asleep_until[i] != kNever;
        }
        return !any && party.group(0).is_quiet();
      });
      ASSERT_TRUE(all) << "seed " << seed;
      EXPECT_TRUE(told.is_everywhere());
    }
}

TEST(Group, SendsEveryPacketOnceAndOneAcknowledgementUpTheTree) {
  Party party(16, {}, 1);
  Told told(party, 1, 3, 16 * Party::kPayload);
  told.start(party);
  ASSERT_TRUE(party.run_until_all(1));
  const Counters counters = party.total();
  EXPECT_EQ(counters.data_sent, 16u);
  // One each; the three whose children have it later than they have told the root at once; and the
  // root, that all have it.
  EXPECT_EQ(counters.acks_sent, 15u + 3u + 1u);
  EXPECT_EQ(party.group(3).counters().acks_received, 4u + 3u);
}

TEST(Group, AWaitingMemberIsNotBusy) {
  Party party(4, {}, 1);
  Told told(party, 1, 0, 100);
  for (int member = 1; member < 4; ++member) told.start(party, member);
  EXPECT_FALSE(party.run([] { return false; }, 10 * kSecond));
  EXPECT_LT(party.visits, 1000u);  // requests for what was never sent, each later than the last
}

// What a late receiver has not read waits for it, and no more is sent than fits there.
TEST(Group, WaitsForALateReceiverWithinItsCredit) {
  for (const Family family : {Family::ack, Family::nack}) {
    Weather weather;
    weather.buffer = 64 + 60;  // and what asks whether it is there
    Party party(5, weather, 1, [&](Options& options) {
      options.family = family;
      options.fan_out = 2;
    });
    Told told(party, 1, 0, 1000 * Party::kPayload);
    told.start(party);
    party.asleep_until[3] = party.network.now + 5 * kSecond;
    EXPECT_FALSE(party.run_until_all(1, 4 * kSecond));
    EXPECT_LE(party.group(0).counters().data_sent, 64u);
    ASSERT_TRUE(party.run_until_all(1));
    EXPECT_TRUE(told.is_everywhere());
    EXPECT_EQ(party.network.overruns, 0u);
    EXPECT_LT(party.visits, 40000u);
    // What was asked for in the pause, of which nothing had been sent yet, is no repair later.
    if (family == Family::nack) {
      EXPECT_EQ(party.total().repairs_to_one + party.total().repairs_to_all, 0u);
    }
  }
}

TEST(Group, ALateReceiverHoldsNobodyElseBackForAShortMessage) {
  Party party(5, {}, 1);
  Told told(party, 1, 0, 1000);
  told.start(party);
  party.asleep_until[1] = party.network.now + 5 * kSecond;
  ASSERT_TRUE(party.run(
      [&] {
        return party.outcomes[0].size() + party.outcomes[2].size() + party.outcomes[3].size() +
                   party.outcomes[4].size() ==
               4;
      },
      50 * kMillisecond));
  ASSERT_TRUE(party.run_until_all(1));
  EXPECT_TRUE(told.is_everywhere());
}

// Packets of a message that is not wanted yet are kept while another is waited for.
TEST(Group, KeepsWhatComesBeforeItIsAskedFor) {
  Party party(3, {}, 1);
  Told first(party, 1, 0, 1000), second(party, 2, 1, 3000);
  first.start(party, 1);
  first.start(party, 2);
  second.start(party, 1);
  EXPECT_FALSE(party.run([&] { return party.outcomes[2].size() == 1; }, 20 * kMillisecond));
  EXPECT_GT(party.group(2).counters().kept_early, 0u);
  first.start(party, 0);
  second.start(party, 0);
  second.start(party, 2);
  ASSERT_TRUE(party.run_until_all(2));
  EXPECT_TRUE(first.is_everywhere() && second.is_everywhere());
  EXPECT_EQ(party.total().repairs_to_all, 0u);
}

TEST(Group, ReportsADeadReceiver) {
  for (const Family family : {Family::ack, Family::nack})
    for (const int dead : {1, 7}) {  // a parent, and a leaf
      SCOPED_TRACE(testing::Message() << (family == Family::ack ? "ack " : "nack ") << dead);
      Weather weather;
      weather.loss = 0.05;
      Party party(8, weather, 1, [&](Options& options) {
        options.family = family;
        options.silence_limit = kSecond;
      });
      Told told(party, 1, 0, 100'000);
      told.start(party);
      party.asleep_until[static_cast<std::size_t>(dead)] = kNever;
      const Time begun = party.network.now;
      ASSERT_TRUE(party.run([&] { return party.outcomes[0].size() == 1; }, 10 * kSecond));
      EXPECT_EQ(party.outcomes[0].at(1).outcome, Outcome::silent);
      EXPECT_EQ(party.outcomes[0].at(1).member, dead);
      EXPECT_LT(party.network.now - begun, 3 * kSecond);
      // The others have it all the same, and the next message finds out at once.
      party.run([&] { return party.group(0).is_quiet(); }, kSecond);
      Told next(party, 2, 0, 100'000);
      for (int member = 0; member < 8; ++member)
        if (member != dead) next.start(party, member);
      ASSERT_TRUE(party.run([&] { return party.outcomes[0].size() == 2; }, kSecond));
      EXPECT_EQ(party.outcomes[0].at(2).member, dead);
      for (int member = 1; member < 8; ++member)
        if (member != dead) {
          EXPECT_EQ(party.outcomes[static_cast<std::size_t>(member)].at(1).outcome, Outcome::done);
        }
    }
}

TEST(Group, ReportsADeadSender) {
  for (const Family family : {Family::ack, Family::nack}) {
    Party party(6, {}, 1, [&](Options& options) {
      options.family = family;
      options.silence_limit = kSecond;
    });
    Told told(party, 1, 2, 500'000);
    told.start(party);
    party.run([] { return false; }, 5 * kMillisecond);
    party.asleep_until[2] = kNever;
    ASSERT_TRUE(party.run(
        [&] {
          for (const std::size_t member : {0, 1, 3, 4, 5})
            if (party.outcomes[member].empty()) return false;
          return true;
        },
        10 * kSecond));
    for (const std::size_t member : {0, 1, 3, 4, 5}) {
      EXPECT_EQ(party.outcomes[member].at(1).outcome, Outcome::silent);
      EXPECT_EQ(party.outcomes[member].at(1).member, 2);
    }
  }
}

// A sender that computes is late and not dead; and who was away itself judges nobody by that.
TEST(Group, WhoWasAwayJudgesNobody) {
  Party party(3, {}, 1, [&](Options& options) { options.silence_limit = kSecond; });
  Told told(party, 1, 0, 100'000);
  told.start(party);
  for (Time& until : party.asleep_until) until = party.network.now + 5 * kSecond;
  ASSERT_TRUE(party.run_until_all(1));
  for (const auto& outcome : party.outcomes) EXPECT_EQ(outcome.at(1).outcome, Outcome::done);
}

TEST(Group, BothSidesSeeThatLengthsDiffer) {
  for (const Family family : {Family::ack, Family::nack})
    for (const std::size_t other : {std::size_t{0}, std::size_t{900}, std::size_t{1001},
                                    std::size_t{1024}, std::size_t{1025}, std::size_t{50'000}}) {
      SCOPED_TRACE(other);
      Party party(4, {}, 1, [&](Options& options) {
        options.family = family;
        options.copied_bytes = 10;  // so that the sender waits
      });
      Told told(party, 1, 0, 1000);
      told.copies[2].assign(other + 1, std::byte{42});
      for (const int member : {0, 1, 3}) told.start(party, member);
      party.group(2).start_receive(1, 0, told.copies[2].data(), other);
      ASSERT_TRUE(party.run_until_all(1));
      EXPECT_EQ(party.outcomes[0].at(1).outcome, Outcome::other_length);
      EXPECT_EQ(party.outcomes[0].at(1).member, 2);
      EXPECT_EQ(party.outcomes[0].at(1).other_bytes, other);
      EXPECT_EQ(party.outcomes[2].at(1).outcome, Outcome::other_length);
      EXPECT_EQ(party.outcomes[2].at(1).member, 0);
      EXPECT_EQ(told.copies[2].back(), std::byte{42}) << "behind the end";
      for (const std::size_t member : {1, 3})
        EXPECT_EQ(party.outcomes[member].at(1).outcome, Outcome::done);
    }
}

// Its children ask the sender when it does not answer.
TEST(Group, AParentThatComputesOnlyCostsTime) {
  Party party(7, {}, 1, [](Options& options) { options.fan_out = 2; });
  party.network.watch = [](int, int to, std::span<const std::byte> packet) {
    Header header;
    read_header(packet.data(), header);
    // Number 3 is a child of number 1: it misses all that is sent to everybody, once.
    static std::set<std::uint32_t> missed;
    return to != 3 || header.kind != Kind::data || !missed.insert(header.index).second;
  };
  Told told(party, 1, 0, 5000);
  told.start(party);
  ASSERT_TRUE(party.run([&] { return party.outcomes[1].size() == 1; }, kSecond));
  party.asleep_until[1] = party.network.now + 5 * kSecond;
  ASSERT_TRUE(party.run_until_all(1, 500 * kMillisecond) ||
              (party.outcomes[3].size() == 1 && party.group(0).is_quiet()));
  EXPECT_TRUE(told.is_everywhere());
}

TEST(Group, RepairsForOneGoToItAloneFromItsParent) {
  Party party(13, {}, 1, [](Options& options) { options.fan_out = 3; });
  int lost = 0;
  party.network.watch = [&](int, int to, std::span<const std::byte> packet) {
    Header header;
    read_header(packet.data(), header);
    return to != 4 || header.kind != Kind::data || header.index != 5 || ++lost > 1;
  };
  Told told(party, 1, 0, 200 * Party::kPayload);  // long enough for the parent to be there still
  told.start(party);
  ASSERT_TRUE(party.run_until_all(1));
  EXPECT_EQ(lost, 2);
  EXPECT_EQ(party.group(1).counters().repairs_to_one, 1u);
  EXPECT_EQ(party.total().repairs_to_one, 1u);
  EXPECT_EQ(party.total().repairs_to_all, 0u);
}

// What a parent lacks itself it hands on when it comes, without being asked again.
TEST(Group, AParentRepairsWhatItGetsLater) {
  Party party(13, {}, 1, [](Options& options) { options.fan_out = 3; });
  int lost = 0;
  party.network.watch = [&](int, int to, std::span<const std::byte> packet) {
    Header header;
    read_header(packet.data(), header);
    return (to != 1 && to != 4) || header.kind != Kind::data || header.index != 5 || ++lost > 2;
  };
  Told told(party, 1, 0, 200 * Party::kPayload);
  told.start(party);
  ASSERT_TRUE(party.run_until_all(1));
  EXPECT_EQ(party.group(0).counters().repairs_to_one, 1u);
  EXPECT_EQ(party.group(1).counters().repairs_to_one, 1u);
  EXPECT_EQ(party.group(4).counters().nacks_sent, 1u);
}

TEST(Group, RepairsForManyGoToAll) {
  Party party(5, {}, 1);
  int lost = 0;
  party.network.watch = [&](int, int, std::span<const std::byte> packet) {
    Header header;
    read_header(packet.data(), header);
    return header.kind != Kind::data || header.index != 5 || ++lost > 4;
  };
  Told told(party, 1, 0, 20 * Party::kPayload);
  told.start(party);
  ASSERT_TRUE(party.run_until_all(1));
  EXPECT_EQ(party.total().repairs_to_all, 1u);
  EXPECT_EQ(party.total().repairs_to_one, 0u);
}

// IGMP: what a switch has forgotten, or not yet learnt.
TEST(Group, MembersWhomTheSwitchDoesNotKnowGetEverythingAlone) {
  for (const Family family : {Family::ack, Family::nack}) {
    Party party(8, {}, 1, [&](Options& options) {
      options.family = family;
      options.silence_limit = 2 * kSecond;
    });
    party.network.to_all_reaches = [](int member) { return member < 2; };
    Told told(party, 1, 0, 100 * Party::kPayload);
    told.start(party);
    ASSERT_TRUE(party.run_until_all(1));
    EXPECT_TRUE(told.is_everywhere());
    for (const auto& outcome : party.outcomes) EXPECT_EQ(outcome.at(1).outcome, Outcome::done);
  }
}

TEST(Group, JoinsAgainWhenForgotten) {
  Party party(8, {}, 1);
  std::set<int> known = {0, 1};
  party.network.to_all_reaches = [&](int member) { return known.count(member) != 0; };
  party.network.joins_again = [&](int member) { known.insert(member); };
  Told told(party, 1, 0, 2000 * Party::kPayload);
  told.start(party);
  ASSERT_TRUE(party.run_until_all(1));
  EXPECT_TRUE(told.is_everywhere());
  EXPECT_EQ(known.size(), 8u);
  EXPECT_LT(party.total().repairs_to_one, 3000u);  // of 12000
}

TEST(Group, WhatIsAbandonedIsNotWaitedFor) {
  for (const Family family : {Family::ack, Family::nack})
    for (const bool lost : {false, true}) {
      if (lost && family == Family::ack) continue;  // there receivers do not ask
      Party party(4, {}, 1, [&](Options& options) { options.family = family; });
      // By the sender, in the middle; whether or not it is heard when it says so.
      Told told(party, 1, 0, 1000 * Party::kPayload);
      told.start(party);
      party.run([] { return false; }, 5 * kMillisecond);
      if (lost) party.network.to_all_reaches = [](int) { return false; };
      party.group(0).abandon(1);
      ASSERT_TRUE(party.run(
          [&] {
            return party.outcomes[1].size() + party.outcomes[2].size() + party.outcomes[3].size() ==
                   3;
          },
          kSecond));
      for (const std::size_t member : {1, 2, 3}) {
        EXPECT_EQ(party.outcomes[member].at(1).outcome, Outcome::given_up);
        EXPECT_EQ(party.outcomes[member].at(1).member, 0);
      }
      party.network.to_all_reaches = {};
      // By a receiver: its memory is not written any more, and nobody waits for it.
      Told other(party, 2, 0, 1000 * Party::kPayload);
      other.start(party);
      party.run([] { return false; }, 5 * kMillisecond);
      party.group(3).abandon(2);
      const auto as_it_was = other.copies[3];
      EXPECT_NE(as_it_was, other.text);
      ASSERT_TRUE(party.run([&] { return party.outcomes[0].size() == 1; }));
      EXPECT_EQ(party.outcomes[0].at(2).outcome, Outcome::done);
      EXPECT_EQ(other.copies[1], other.text);
      EXPECT_EQ(other.copies[3], as_it_was);
    }
}

TEST(Group, SaysWhatIsWrongWithItsOptions) {
  MadeUpNetwork network(2, {}, 1);
  Options good;
  good.members.assign(2, {0, 0, 1440, 64});
  good.secret.assign(32, std::byte{1});
  const auto error = [&](const std::function<void(Options&)>& change) {
    Options options = good;
    change(options);
    const auto group = Group::open(options, network.socket(0));
    return group ? std::string() : group.error();
  };
  EXPECT_EQ(error([](Options&) {}), "");
  EXPECT_NE(error([](Options& o) { o.secret.resize(15); }).find("15 bytes"), std::string::npos);
  EXPECT_NE(error([](Options& o) { o.me = 2; }).find("member 2"), std::string::npos);
  EXPECT_NE(error([](Options& o) { o.members.clear(); }).find("0 members"), std::string::npos);
  EXPECT_NE(error([](Options& o) { o.members[1].payload_bytes = 8; }).find("MTU"),
            std::string::npos);
  EXPECT_NE(error([](Options& o) { o.members[1].credit_packets = 1; }).find("rmem_max"),
            std::string::npos);
  EXPECT_NE(error([](Options& o) { o.rate = 0; }).find("rate"), std::string::npos);
  auto group = Group::open(good, network.socket(0));
  ASSERT_TRUE(group);
  EXPECT_EQ((*group)->start_send(5, nullptr, 0), nullptr);
  EXPECT_NE((*group)->start_send(5, nullptr, 0), nullptr);
  EXPECT_NE((*group)->start_receive(6, 0, nullptr, 0), nullptr);
  EXPECT_NE((*group)->start_receive(7, 2, nullptr, 0), nullptr);
}

}  // namespace
}  // namespace unisono::multicast
