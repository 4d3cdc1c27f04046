// Packets of who does not know the secret, of another time, or sent twice: dropped and counted, and
// nothing is changed by them, nor answered.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "multicast/authentication.h"
#include "tests/multicast/made_up_network.h"

namespace unisono::multicast {
namespace {

using Packet = MadeUpNetwork::Packet;

struct Sent {
  int to = kEverybody;
  Packet packet;
};

const std::vector<std::byte> kSecret(16, std::byte{7});  // Party's

class Attack : public testing::Test {
 protected:
  explicit Attack(const std::function<void(Options&)>& change = {})
      : party_(3, {}, 1, change),
        told_(party_, 1, 0, 3000),
        member_(kSecret, 0, 0),
        attacker_(std::vector<std::byte>(16, std::byte{8}), 0, 0) {
    party_.network.overhear = [this](int, int to, std::span<const std::byte> packet) {
      seen_.push_back({to, {packet.begin(), packet.end()}});
    };
  }
  /// What the network would carry of a message.
  void deliver() {
    told_.start(party_);
    ASSERT_TRUE(party_.run_until_all(1));
    ASSERT_TRUE(told_.is_everywhere());
    inject({});  // the last ones are on their way
  }
  /// Each to whom it was for; what members sent in answer.
  std::size_t inject(const std::vector<Sent>& packets, Time patience = kSecond) {
    const std::size_t before = party_.network.sent;
    for (const Sent& one : packets) party_.network.put(one.to, one.packet);
    party_.run([] { return false; }, patience);
    return party_.network.sent - before;
  }
  std::size_t inject_to_all(const std::vector<Packet>& packets) {
    std::vector<Sent> all;
    for (const Packet& packet : packets) all.push_back({kEverybody, packet});
    return inject(all);
  }
  /// As a member would send it to all, or somebody who knows a secret.
  static Packet made(const Authentication& by, Header header, Packet payload) {
    Packet packet(kHeaderBytes);
    write_header(header, packet.data());
    packet.insert(packet.end(), payload.begin(), payload.end());
    by.sign(packet.data(), std::span(packet).subspan(kHeaderBytes), kEverybody);
    return packet;
  }
  static Packet body_of(const Status& status) {
    Packet body(kMaxStatusBytes);
    body.resize(write_status(status, body.data()));
    return body;
  }
  /// A question of member 0's to all, of a number that it has not used.
  Packet poll(std::uint64_t message, std::uint64_t number) {
    const std::vector<std::byte> all(1, std::byte{7});
    Status status;
    status.bytes = told_.text.size();
    status.next = status.seen = 1;
    status.members = all;
    return made(member_, {Kind::poll, 0, 0, member_.label(), message, 0, number}, body_of(status));
  }
  Counters at(int member) { return party_.group(member).counters(); }

  Party party_;
  Told told_;
  std::vector<Sent> seen_;
  Authentication member_, attacker_;
};

TEST_F(Attack, ForgedPacketsChangeNothing) {
  told_.start(party_, 1);
  std::vector<Packet> forged;
  for (std::uint32_t index = 0; index < 12; ++index) {
    const std::uint8_t flags = index == 11 ? kLast : 0;
    forged.push_back(made(attacker_, {Kind::data, flags, 0, member_.label(), 1, index, index + 1},
                          Packet(Party::kPayload, std::byte{1})));
  }
  const std::size_t quiet = inject({});
  EXPECT_LE(inject_to_all(forged), quiet + 3);  // what a waiting member asks anyway
  EXPECT_EQ(at(1).forged, 12u);
  EXPECT_EQ(at(2).received, 0u);
  EXPECT_EQ(told_.copies[1], std::vector<std::byte>(3000));
  told_.start(party_, 0);
  told_.start(party_, 2);
  ASSERT_TRUE(party_.run_until_all(1));
  EXPECT_TRUE(told_.is_everywhere());
}

TEST_F(Attack, ReplayedPacketsAreAnsweredByNobody) {
  deliver();
  const auto all = seen_;
  const Counters before = at(1);
  EXPECT_EQ(inject(all), 0u);
  EXPECT_GT(at(1).replayed, 10u);
  EXPECT_EQ(at(1).received, before.received);
  EXPECT_EQ(at(1).duplicates, before.duplicates);
}

// Those that are waited for are lost in time, whatever an attacker sends again.
class AttackOnTheSilent : public Attack {
 protected:
  AttackOnTheSilent() : Attack([](Options& options) { options.silence_limit = kSecond; }) {}

  /// When a member has been told that the dead member 0 is silent: what it has waited for, while
  /// `disturb` is called each millisecond.
  Time until_reported(const std::function<void()>& disturb) {
    party_.asleep_until[0] = kNever;
    Told next(party_, 2, 0, 3000);
    next.start(party_, 1);
    next.start(party_, 2);
    const Time begun = party_.network.now;
    while (party_.outcomes[1].count(2) == 0 && party_.network.now < begun + 20 * kSecond) {
      disturb();
      party_.run([] { return false; }, kMillisecond);
      party_.network.now = std::max(party_.network.now, begun + ++steps_ * kMillisecond);
    }
    EXPECT_EQ(party_.outcomes[1][2].outcome, Outcome::silent);
    return party_.network.now - begun;
  }
  Time steps_ = 0;
};

TEST_F(AttackOnTheSilent, ReplayedDataIsNoSignOfLife) {
  deliver();
  const auto all = seen_;
  std::size_t next = 0;
  EXPECT_LT(until_reported([&] {
              if (steps_ % 100 != 0) return;
              const Sent& one = all[next++ % all.size()];
              party_.network.put(one.to, one.packet);
            }),
            3 * kSecond);
  EXPECT_GT(at(1).replayed, 5u);
}

// Who is flooded never finds its sockets empty.
TEST_F(AttackOnTheSilent, AFloodDoesNotHideThem) {
  deliver();
  const Packet junk = made(attacker_, {Kind::data, 0, 0, member_.label(), 2, 0, 1000},
                           Packet(Party::kPayload, std::byte{1}));
  EXPECT_LT(until_reported([&] {
              for (int i = 0; i < 400; ++i) party_.network.put(1, junk);
            }),
            3 * kSecond);
  EXPECT_GT(at(1).forged, 100'000u);
}

// A captured request would make the sender send again and again.
TEST_F(Attack, AReplayedRequestIsNoRequest) {
  int lost = 0;
  party_.network.watch = [&](int, int to, std::span<const std::byte> packet) {
    Header header;
    read_header(packet.data(), header);
    return to != 1 || header.kind != Kind::data || ++lost != 3;
  };
  party_.asleep_until[2] = party_.network.now + 5 * kSecond;  // so that the message stays
  told_.start(party_);
  party_.run([&] { return party_.outcomes[1].size() == 1; }, kSecond);
  std::vector<Sent> requests;
  for (const Sent& one : seen_)
    if (std::to_integer<int>(one.packet[0]) % 16 == static_cast<int>(Kind::nack))
      requests.push_back(one);
  ASSERT_GE(requests.size(), 1u);
  const auto repairs = at(0).repairs_to_one;
  EXPECT_GE(repairs, 1u);
  inject(std::vector<Sent>(1000, requests[0]));
  EXPECT_EQ(at(0).repairs_to_one, repairs);
  EXPECT_EQ(at(0).replayed, 1000u);
}

// Of `ack`, where data asks: its receivers answer what they have already.
class AttackOnAcknowledgements : public Attack {
 protected:
  AttackOnAcknowledgements() : Attack([](Options& options) { options.family = Family::ack; }) {}
};

TEST_F(AttackOnAcknowledgements, AThousandReplaysOfAQuestionAreNotAnswered) {
  party_.asleep_until[2] = party_.network.now + 100 * kMillisecond;  // so that the sender asks
  deliver();
  std::vector<Sent> questions;
  for (const Sent& one : seen_)
    if ((std::to_integer<int>(one.packet[1]) & kAnswer) != 0) questions.push_back(one);
  ASSERT_GE(questions.size(), 1u);
  EXPECT_EQ(inject(std::vector<Sent>(1000, questions[0])), 0u);
}

// Fresh ones, be they a member's: about a message that is under way, one that is over, and one that
// nobody has asked for yet.
TEST_F(Attack, AQuestionIsAnsweredOncePerRound) {
  deliver();
  Told next(party_, 5, 0, 3000);
  next.start(party_, 1);
  std::uint64_t number = 100'000;
  for (const std::uint64_t message : {5, 1, 9}) {
    const std::size_t alone = inject({}, 10 * kMillisecond);
    std::vector<Sent> questions;
    for (int i = 0; i < 1000; ++i) questions.push_back({1, poll(message, ++number)});
    for (Sent& one : questions)  // for member 1 alone
      member_.sign(one.packet.data(), std::span(one.packet).subspan(kHeaderBytes), 1);
    const std::size_t answers = inject(questions, 10 * kMillisecond);
    EXPECT_GE(answers, 1u) << message;
    EXPECT_LE(answers, alone + 8) << message;  // a round takes 2 ms
  }
  // About many messages.
  std::vector<Sent> questions;
  for (int i = 0; i < 1000; ++i)
    questions.push_back({kEverybody, poll(100 + static_cast<std::uint64_t>(i), ++number)});
  EXPECT_LE(inject(questions, kMillisecond), 2 * 32 + 8u);
}

TEST_F(Attack, CutAndForeignPacketsAreCounted) {
  deliver();
  const Packet whole = seen_[0].packet;
  std::vector<Packet> cut;
  for (std::size_t length = 0; length < whole.size(); ++length)
    cut.emplace_back(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
  Packet too_long = whole;
  too_long.resize(5000);
  cut.push_back(too_long);
  EXPECT_EQ(inject_to_all(cut), 0u);
  EXPECT_EQ(at(1).malformed, kHeaderBytes + 1);
  EXPECT_EQ(at(1).forged, whole.size() - kHeaderBytes);
  Packet label = whole, version = whole;
  label[5] ^= std::byte{1};
  version[0] ^= std::byte{0x30};
  EXPECT_EQ(inject_to_all({label, version}), 0u);
  EXPECT_EQ(at(1).foreign, 1u);
  EXPECT_EQ(at(1).malformed, kHeaderBytes + 2);
}

// Jobs that use an address one after the other, or groups of one job: all that each of them has
// sent is dropped by the others, whatever label it carries.
TEST_F(Attack, PacketsOfAnotherJobGroupOrEpochAreDropped) {
  for (const int other : {0, 1, 2}) {
    Party party(3, {}, 1, [other](Options& options) {
      if (other == 0) options.secret.assign(16, std::byte{9});
      if (other == 1) options.group = 1;
      if (other == 2) options.epoch = 1;
    });
    std::vector<Sent> theirs;
    party.network.overhear = [&](int, int to, std::span<const std::byte> packet) {
      theirs.push_back({to, {packet.begin(), packet.end()}});
    };
    Told told(party, 1, 0, 3000);
    told.start(party);
    ASSERT_TRUE(party.run_until_all(1));
    const Counters before = at(1);
    EXPECT_EQ(inject(theirs), 0u);
    const auto came = std::count_if(theirs.begin(), theirs.end(), [](const Sent& one) {
      return one.to == kEverybody || one.to == 1;
    });
    EXPECT_EQ(at(1).foreign, before.foreign + static_cast<std::uint64_t>(came));
    for (Sent& one : theirs) {
      one.packet[4] = static_cast<std::byte>(member_.label() >> 8);
      one.packet[5] = static_cast<std::byte>(member_.label());
    }
    EXPECT_EQ(inject(theirs), 0u);
    EXPECT_GT(at(2).forged, before.forged);
    EXPECT_EQ(at(1).received, before.received);
  }
}

// A member's packets to one other are not for those that somebody diverts them to.
TEST_F(Attack, PacketsForAnotherMemberAreForged) {
  deliver();
  std::vector<Sent> diverted;
  for (const Sent& one : seen_)
    for (const int to : {kEverybody, 0, 1, 2})
      if (to != one.to && (one.to != kEverybody || to != kEverybody))
        diverted.push_back({to, one.packet});
  const Counters before = at(2);
  EXPECT_EQ(inject(diverted), 0u);
  EXPECT_EQ(at(2).received, before.received);
  EXPECT_EQ(at(2).duplicates, before.duplicates);
  EXPECT_GT(at(2).forged, before.forged + 10);
}

TEST_F(Attack, AMembersOwnPacketsAreReflectedInVain) {
  deliver();
  std::vector<Sent> reflected;
  for (const Sent& one : seen_) reflected.push_back({0, one.packet});
  const Counters before = at(0);
  EXPECT_EQ(inject(reflected), 0u);
  EXPECT_GT(at(0).replayed, before.replayed + 10);
  EXPECT_EQ(at(0).received, before.received);
}

// What is held back for too long is as good as lost: it is sent again.
TEST_F(Attack, APacketThatComesTooLateIsDroppedAndRepaired) {
  Packet held;
  party_.network.watch = [&](int, int to, std::span<const std::byte> packet) {
    if (to != 1 || !held.empty()) return true;
    held.assign(packet.begin(), packet.end());
    return false;
  };
  Told longer(party_, 1, 0, 3000 * Party::kPayload);
  longer.start(party_);
  ASSERT_TRUE(party_.run_until_all(1));
  EXPECT_TRUE(longer.is_everywhere());
  inject({});
  const Counters before = at(1);
  EXPECT_EQ(inject({{kEverybody, held}}), 0u);
  EXPECT_EQ(at(1).replayed, before.replayed + 1);
  EXPECT_EQ(at(1).received, before.received);
}

TEST_F(Attack, MessagesAreCountedFurtherThan32Bits) {
  std::size_t messages = 0;
  for (const std::uint64_t number :
       {std::uint64_t{UINT32_MAX}, std::uint64_t{1} << 32, kLastMessage}) {
    Told told(party_, number, 0, 3000);
    told.start(party_);
    ASSERT_TRUE(party_.run_until_all(++messages)) << number;
    EXPECT_TRUE(told.is_everywhere()) << number;
  }
  std::byte data{};
  EXPECT_NE(party_.group(0).start_send(kLastMessage + 1, &data, 1), nullptr);
}

TEST_F(Attack, DataBehindTheEndIsAnotherLength) {
  told_.start(party_, 1);
  inject_to_all(
      {made(member_, {Kind::data, 0, 0, member_.label(), 1, 100, 1}, Packet(Party::kPayload))});
  ASSERT_EQ(party_.outcomes[1].size(), 1u);
  EXPECT_EQ(party_.outcomes[1].at(1).outcome, Outcome::other_length);
  EXPECT_EQ(party_.outcomes[1].at(1).other_bytes, 101 * Party::kPayload);
}

// Nobody can have what was not sent.
TEST_F(Attack, AnAckForMoreThanWasSentIsNone) {
  Told longer(party_, 2, 0, 1000 * Party::kPayload);
  longer.start(party_, 0);
  party_.run([] { return false; }, 100 * kMillisecond);
  const std::vector<std::byte> all(1, std::byte{7});
  Status status;
  status.bytes = longer.text.size();
  status.next = 1000;
  status.member = 1;
  status.members = all;
  inject_to_all({made(member_, {Kind::ack, 0, 1, member_.label(), 2, 0, 1000}, body_of(status))});
  EXPECT_EQ(at(0).senseless, 1u);
  EXPECT_TRUE(party_.outcomes[0].empty());
  EXPECT_FALSE(party_.group(0).is_quiet());
}

// A member's packets are believed; they must not do harm all the same.
TEST_F(Attack, SenselessPacketsOfAMemberAreNoCrash) {
  std::mt19937 random(5);
  told_.start(party_);
  party_.asleep_until[2] = party_.network.now + kSecond / 2;
  std::vector<Packet> packets;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    Packet body(random() % 120);
    for (std::byte& byte : body) byte = static_cast<std::byte>(random() % 3 == 0 ? random() : 0);
    const auto kind = static_cast<Kind>(1 + random() % 4);
    if (kind == Kind::data) {
      body.resize(Party::kPayload - i % 2);
    } else if (body.size() >= kStatusBytes) {  // lengths that fit, often
      Status status;
      status.bytes = random() % 2 == 0 ? 3000 : random();
      status.next = random() % 3 == 0 ? random() : random() % 16;
      status.seen = random();
      status.member = static_cast<std::uint16_t>(random() % 5);
      const Packet maps = body;
      status.members = {maps.data(), random() % 5};
      status.missing = {maps.data() + 8, random() % 8};
      body = body_of(status);
    }
    // Of a member that there is not, too.
    packets.push_back(
        made(member_,
             {kind, static_cast<std::uint8_t>(random() % 16),
              static_cast<std::uint16_t>(random() % 4), member_.label(), random() % 4,
              kind == Kind::data ? static_cast<std::uint32_t>(random()) : 0, i + 1000},
             body));
  }
  inject_to_all(packets);
  EXPECT_GT(at(0).senseless + at(1).senseless, 0u);
}

}  // namespace
}  // namespace unisono::multicast
