// Packets of who does not know the secret, of another time, or sent twice: dropped and counted, and
// nothing is changed by them, nor answered.
#include <gtest/gtest.h>

#include "multicast/authentication.h"
#include "tests/multicast/made_up_network.h"

namespace unisono::multicast {
namespace {

using Packet = MadeUpNetwork::Packet;

class Attack : public testing::Test {
 protected:
  Attack()
      : party_(3, {}, 1),
        told_(party_, 1, 0, 3000),
        attacker_(std::vector<std::byte>(16, std::byte{8}), 0, 0) {
    party_.network.watch = [this](int, int, std::span<const std::byte> packet) {
      seen_.emplace_back(packet.begin(), packet.end());
      return true;
    };
  }
  /// What the network would carry of a message.
  void deliver() {
    told_.start(party_);
    ASSERT_TRUE(party_.run_until_all(1));
    ASSERT_TRUE(told_.is_everywhere());
  }
  /// All of them to all members; what they sent in answer.
  std::size_t inject(const std::vector<Packet>& packets) {
    const std::size_t before = party_.network.sent;
    for (const Packet& packet : packets) party_.network.put(kEverybody, packet);
    party_.run([] { return false; }, kSecond);
    return party_.network.sent - before;
  }
  Counters at(int member) { return party_.group(member).counters(); }

  Party party_;
  Told told_;
  std::vector<Packet> seen_;
  Authentication attacker_;
};

TEST_F(Attack, ForgedPacketsChangeNothing) {
  told_.start(party_, 1);
  std::vector<Packet> forged;
  for (std::uint32_t index = 0; index < 12; ++index) {
    Packet packet(kHeaderBytes + Party::kPayload, std::byte{1});
    const std::uint8_t flags = index == 11 ? kLast : 0;
    write_header({Kind::data, flags, 0, 0, 0, 1, index}, packet.data());
    attacker_.sign(packet.data(), std::span(packet).subspan(kHeaderBytes));
    forged.push_back(packet);
  }
  const std::size_t quiet = inject({});
  EXPECT_LE(inject(forged), quiet + 3);  // what a waiting member asks anyway
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
  EXPECT_EQ(inject(all), 0u);
  const Counters counters = at(1);
  EXPECT_GT(counters.duplicates + counters.replayed, 0u);
}

// A captured request would make the sender send again and again.
TEST_F(Attack, AReplayedRequestIsNoRequest) {
  int lost = 0;
  std::vector<Packet> requests;
  party_.network.watch = [&](int, int to, std::span<const std::byte> packet) {
    Header header;
    read_header(packet.data(), header);
    if (header.kind == Kind::nack) requests.emplace_back(packet.begin(), packet.end());
    return to != 1 || header.kind != Kind::data || ++lost != 3;
  };
  party_.asleep_until[2] = party_.network.now + 5 * kSecond;  // so that the message stays
  told_.start(party_);
  party_.run([&] { return party_.outcomes[1].size() == 1; }, kSecond);
  ASSERT_GE(requests.size(), 1u);
  const auto repairs = at(0).repairs_to_one;
  EXPECT_GE(repairs, 1u);
  const auto replayed = std::vector<Packet>(1000, requests[0]);
  inject(replayed);
  EXPECT_EQ(at(0).repairs_to_one, repairs);
  EXPECT_EQ(at(0).replayed, 1000u);
}

TEST_F(Attack, CutForeignAndOldPacketsAreCounted) {
  deliver();
  const Packet whole = seen_[0];
  std::vector<Packet> cut;
  for (std::size_t length = 0; length < whole.size(); ++length)
    cut.emplace_back(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
  Packet too_long = whole;
  too_long.resize(5000);
  cut.push_back(too_long);
  EXPECT_EQ(inject(cut), 0u);
  EXPECT_EQ(at(1).malformed, kHeaderBytes + 1);
  EXPECT_EQ(at(1).forged, whole.size() - kHeaderBytes);
  Packet epoch = whole, group = whole, version = whole;
  group[5] ^= std::byte{1};
  epoch[7] ^= std::byte{1};
  version[0] ^= std::byte{0x30};
  EXPECT_EQ(inject({epoch, group, version}), 0u);
  EXPECT_EQ(at(1).other_epoch, 1u);
  EXPECT_EQ(at(1).other_group, 1u);
  EXPECT_EQ(at(1).malformed, kHeaderBytes + 2);
}

TEST_F(Attack, DataBehindTheEndIsAnotherLength) {
  const Authentication member(std::vector<std::byte>(16, std::byte{7}), 0, 0);
  told_.start(party_, 1);
  Packet packet(kHeaderBytes + Party::kPayload);
  write_header({Kind::data, 0, 0, 0, 0, 1, 100}, packet.data());
  member.sign(packet.data(), std::span(packet).subspan(kHeaderBytes));
  inject({packet});
  ASSERT_EQ(party_.outcomes[1].size(), 1u);
  EXPECT_EQ(party_.outcomes[1].at(1).outcome, Outcome::other_length);
  EXPECT_EQ(party_.outcomes[1].at(1).other_bytes, 101 * Party::kPayload);
}

// Nobody can have what was not sent.
TEST_F(Attack, AnAckForMoreThanWasSentIsNone) {
  const Authentication member(std::vector<std::byte>(16, std::byte{7}), 0, 0);
  Told longer(party_, 2, 0, 1000 * Party::kPayload);
  longer.start(party_, 0);
  party_.run([] { return false; }, 100 * kMillisecond);
  const std::vector<std::byte> all(1, std::byte{7});
  Status status;
  status.bytes = longer.text.size();
  status.next = 1000;
  status.member = 1;
  status.members = all;
  Packet packet(kHeaderBytes + kMaxStatusBytes);
  write_header({Kind::ack, 0, 1, 0, 0, 2, 1000}, packet.data());
  packet.resize(kHeaderBytes + write_status(status, packet.data() + kHeaderBytes));
  member.sign(packet.data(), std::span(packet).subspan(kHeaderBytes));
  inject({packet});
  EXPECT_EQ(at(0).senseless, 1u);
  EXPECT_TRUE(party_.outcomes[0].empty());
  EXPECT_FALSE(party_.group(0).is_quiet());
}

// A member's packets are believed; they must not do harm all the same.
TEST_F(Attack, SenselessPacketsOfAMemberAreNoCrash) {
  std::mt19937 random(5);
  const Authentication member(std::vector<std::byte>(16, std::byte{7}), 0, 0);
  told_.start(party_);
  party_.asleep_until[2] = party_.network.now + kSecond / 2;
  std::vector<Packet> packets;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    Packet packet(kHeaderBytes + random() % 120);
    for (std::byte& byte : packet) byte = static_cast<std::byte>(random() % 3 == 0 ? random() : 0);
    const auto kind = static_cast<Kind>(1 + random() % 4);
    // Of a member that there is not, too.
    write_header(
        {kind, static_cast<std::uint8_t>(random() % 16), static_cast<std::uint16_t>(random() % 4),
         0, 0, static_cast<std::uint32_t>(random() % 4),
         kind == Kind::data ? static_cast<std::uint32_t>(random()) : i + 1000},
        packet.data());
    if (kind == Kind::data) {
      packet.resize(kHeaderBytes + Party::kPayload - i % 2);
    } else if (packet.size() >= kHeaderBytes + kStatusBytes) {  // lengths that fit, often
      Status status;
      status.bytes = random() % 2 == 0 ? 3000 : random();
      status.next = random() % 3 == 0 ? random() : random() % 16;
      status.seen = random();
      status.member = static_cast<std::uint16_t>(random() % 5);
      const Packet maps = packet;
      status.members = {maps.data(), random() % 5};
      status.missing = {maps.data() + 8, random() % 8};
      packet.resize(kHeaderBytes + kMaxStatusBytes);
      packet.resize(kHeaderBytes + write_status(status, packet.data() + kHeaderBytes));
    }
    member.sign(packet.data(), std::span(packet).subspan(kHeaderBytes));
    packets.push_back(packet);
  }
  inject(packets);
  EXPECT_GT(at(0).senseless + at(1).senseless, 0u);
}

}  // namespace
}  // namespace unisono::multicast
