// What is on the wire, byte for byte; and what is none of it.
#include "multicast/packet.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <vector>

#include "multicast/authentication.h"
#include "multicast/replay_window.h"

namespace unisono::multicast {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

// Written down once, so that members of different machines and versions agree.
TEST(Packet, HeaderIsInNetworkOrder) {
  const Header header{Kind::nack, kAnswer,           0x0102, 0x0304, 0x05060708090a,
                      0x0b0c0d0e, 0x0f10111213141516};
  std::vector<std::byte> wire(kPlainBytes);
  write_header(header, wire.data());
  EXPECT_EQ(wire, bytes({0x23, 2,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                         11,   12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22}));
  Header read;
  ASSERT_TRUE(read_header(wire.data(), read));
  EXPECT_EQ(read.kind, Kind::nack);
  EXPECT_EQ(read.flags, kAnswer);
  EXPECT_EQ(read.from, 0x0102);
  EXPECT_EQ(read.label, 0x0304);
  EXPECT_EQ(read.message, 0x05060708090au);
  EXPECT_EQ(read.index, 0x0b0c0d0eu);
  EXPECT_EQ(read.number, 0x0f10111213141516u);
  for (const int first : {0x13, 0x03, 0x20, 0x25, 0xff}) {  // versions and kinds that there are not
    wire[0] = static_cast<std::byte>(first);
    EXPECT_FALSE(read_header(wire.data(), read)) << first;
  }
}

TEST(Packet, StatusIsReadAsItWasWritten) {
  const auto members = bytes({0x81, 1}), missing = bytes({5});
  Status status;
  status.bytes = 0x0102030405060708;
  status.next = 9;
  status.seen = 10;
  status.member = 11;
  status.members = members;
  status.missing = missing;
  std::vector<std::byte> wire(kMaxStatusBytes);
  wire.resize(write_status(status, wire.data()));
  EXPECT_EQ(wire, bytes({1, 2, 3,  4, 5,  6, 7, 8, 0, 0,    0, 9, 0,
                         0, 0, 10, 0, 11, 0, 2, 0, 1, 0x81, 1, 5}));
  Status read;
  ASSERT_TRUE(read_status(wire, read));
  EXPECT_EQ(read.bytes, status.bytes);
  EXPECT_TRUE(has_bit(read.members, 0) && has_bit(read.members, 7) && has_bit(read.members, 8));
  EXPECT_FALSE(has_bit(read.members, 1) || has_bit(read.members, 16));
  EXPECT_TRUE(has_bit(read.missing, 2));
  // Whatever is cut off or added, or says that it is longer.
  for (std::size_t length = 0; length < wire.size(); ++length)
    EXPECT_FALSE(read_status({wire.data(), length}, read)) << length;
  wire.push_back(std::byte{0});
  EXPECT_FALSE(read_status(wire, read));
  wire.pop_back();
  wire[18] = wire[20] = std::byte{0xff};
  EXPECT_FALSE(read_status(wire, read));
}

class Tag : public testing::Test {
 protected:
  static constexpr int kMember = 2;
  Tag() : secret_(16, std::byte{3}), packet_(kHeaderBytes + 100, std::byte{9}) {
    write_header({Kind::data, 0, 1, 2, 3, 4, 5}, packet_.data());
  }
  void sign(const Authentication& by) {
    by.sign(packet_.data(), std::span(packet_).subspan(kHeaderBytes), kMember);
  }
  std::vector<std::byte> secret_, packet_;
};

TEST_F(Tag, NoBitCanBeChanged) {
  const Authentication own(secret_, 7, 8);
  sign(own);
  ASSERT_TRUE(own.is_authentic(packet_, kMember));
  for (std::size_t bit = 0; bit < packet_.size() * 8; ++bit) {
    packet_[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(own.is_authentic(packet_, kMember)) << bit;
    packet_[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  for (std::size_t length = kHeaderBytes; length < packet_.size(); ++length)
    EXPECT_FALSE(own.is_authentic({packet_.data(), length}, kMember));
  packet_.push_back(std::byte{0});
  EXPECT_FALSE(own.is_authentic(packet_, kMember));
}

TEST_F(Tag, AnotherMembersPacketIsNotThisOnes) {
  const Authentication own(secret_, 7, 8);
  sign(own);
  for (const int member : {kEverybody, 0, 1, 3, kMaxMembers - 1})
    EXPECT_FALSE(own.is_authentic(packet_, member)) << member;
}

// Most packets of others are dropped at the cost of a comparison.
TEST_F(Tag, LabelsDiffer) {
  const Authentication own(secret_, 7, 8);
  const auto other = std::vector<std::byte>(16, std::byte{4});
  EXPECT_EQ(own.label(), Authentication(secret_, 7, 8).label());
  EXPECT_NE(own.label(), Authentication(secret_, 7, 9).label());
  EXPECT_NE(own.label(), Authentication(secret_, 6, 8).label());
  EXPECT_NE(own.label(), Authentication(other, 7, 8).label());
}

TEST_F(Tag, EverySecretGroupAndEpochHasItsOwn) {
  const Authentication own(secret_, 7, 8);
  sign(own);
  const auto longer = std::vector<std::byte>(32, std::byte{3});
  auto other = secret_;
  other[15] ^= std::byte{1};
  EXPECT_FALSE(Authentication(other, 7, 8).is_authentic(packet_, kMember));
  EXPECT_FALSE(Authentication(longer, 7, 8).is_authentic(packet_, kMember));
  EXPECT_FALSE(Authentication(secret_, 8, 7).is_authentic(packet_, kMember));
  EXPECT_FALSE(Authentication(secret_, 7, 8 + (1ULL << 40)).is_authentic(packet_, kMember));
  EXPECT_TRUE(Authentication(secret_, 7, 8).is_authentic(packet_, kMember));
}

// The same on every machine: with another one, or another version, members do not understand each
// other. Computed here once; that it is SipHash of the right text is libsodium's to know.
TEST_F(Tag, IsTheSameEverywhere) {
  sign(Authentication(secret_, 7, 8));
  const auto tag = std::vector(packet_.begin() + kPlainBytes, packet_.begin() + kHeaderBytes);
  EXPECT_EQ(tag, bytes({0x35, 0x07, 0xe4, 0x6c, 0x88, 0x4c, 0x69, 0x5c, 0x42, 0xd0, 0xd0, 0xe5,
                        0xee, 0x12, 0x7d, 0xc9}));
}

TEST(ReplayWindow, AcceptsEachNumberOnce) {
  ReplayWindow window(100);
  EXPECT_FALSE(window.accept(0));
  EXPECT_TRUE(window.accept(1));
  EXPECT_FALSE(window.accept(1));
  EXPECT_TRUE(window.accept(40));
  EXPECT_TRUE(window.accept(39));
  EXPECT_TRUE(window.accept(2));
  EXPECT_FALSE(window.accept(2));
  EXPECT_FALSE(window.accept(39));
  EXPECT_TRUE(window.accept(139));
  EXPECT_FALSE(window.accept(40));  // within, and seen
  EXPECT_TRUE(window.accept(41));
  EXPECT_TRUE(window.accept(10'000));
  EXPECT_TRUE(window.accept(9'901));
  EXPECT_FALSE(window.accept(9'700));  // too old to tell
  EXPECT_FALSE(window.accept(139));
}

// Whatever order they come in: as a set would say, for as long as it tells.
TEST(ReplayWindow, AgreesWithASet) {
  std::mt19937_64 random(3);
  ReplayWindow window(1000);
  std::set<std::uint64_t> seen;
  std::uint64_t newest = (std::uint64_t{1} << 32) - 100;  // 32 bits would wrap
  ASSERT_TRUE(window.accept(newest));
  seen.insert(newest);
  int old = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t number = newest + 3 - random() % (i % 100 == 0 ? 4'000 : 900);
    const bool is_new = window.accept(number);
    if (number + 1000 > newest) {
      EXPECT_EQ(is_new, seen.insert(number).second) << number;
    } else {
      old += is_new ? 0 : 1;
      EXPECT_TRUE(!is_new || seen.insert(number).second) << number;
    }
    newest = std::max(newest, number);
  }
  EXPECT_GT(newest, std::uint64_t{1} << 32);
  EXPECT_GT(old, 100);
  EXPECT_TRUE(window.accept(UINT64_MAX));
  EXPECT_FALSE(window.accept(UINT64_MAX));
  EXPECT_FALSE(window.accept(newest));
}

}  // namespace
}  // namespace unisono::multicast
