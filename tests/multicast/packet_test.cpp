// What is on the wire, byte for byte; and what is none of it.
#include "multicast/packet.h"

#include <gtest/gtest.h>

#include <array>
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
  const Header header{Kind::nack, kAnswer, 0x0102, 0x0304, 0x0506, 0x0708090a, 0x0b0c0d0e};
  std::vector<std::byte> wire(kPlainBytes);
  write_header(header, wire.data());
  EXPECT_EQ(wire, bytes({0x13, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
  Header read;
  ASSERT_TRUE(read_header(wire.data(), read));
  EXPECT_EQ(read.kind, Kind::nack);
  EXPECT_EQ(read.flags, kAnswer);
  EXPECT_EQ(read.from, 0x0102);
  EXPECT_EQ(read.message, 0x0708090au);
  EXPECT_EQ(read.index, 0x0b0c0d0eu);
  for (const int first : {0x23, 0x03, 0x10, 0x15, 0xff}) {  // versions and kinds that there are not
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
  Tag() : secret_(16, std::byte{3}), packet_(kHeaderBytes + 100, std::byte{9}) {
    write_header({Kind::data, 0, 1, 2, 3, 4, 5}, packet_.data());
  }
  void sign(const Authentication& by) {
    by.sign(packet_.data(), std::span(packet_).subspan(kHeaderBytes));
  }
  std::vector<std::byte> secret_, packet_;
};

TEST_F(Tag, NoBitCanBeChanged) {
  const Authentication own(secret_, 7, 8);
  sign(own);
  ASSERT_TRUE(own.is_authentic(packet_));
  for (std::size_t bit = 0; bit < packet_.size() * 8; ++bit) {
    packet_[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(own.is_authentic(packet_)) << bit;
    packet_[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  for (std::size_t length = kHeaderBytes; length < packet_.size(); ++length)
    EXPECT_FALSE(own.is_authentic({packet_.data(), length}));
  packet_.push_back(std::byte{0});
  EXPECT_FALSE(own.is_authentic(packet_));
}

TEST_F(Tag, EverySecretGroupAndEpochHasItsOwn) {
  const Authentication own(secret_, 7, 8);
  sign(own);
  const auto longer = std::vector<std::byte>(32, std::byte{3});
  auto other = secret_;
  other[15] ^= std::byte{1};
  EXPECT_FALSE(Authentication(other, 7, 8).is_authentic(packet_));
  EXPECT_FALSE(Authentication(longer, 7, 8).is_authentic(packet_));
  EXPECT_FALSE(Authentication(secret_, 8, 7).is_authentic(packet_));
  EXPECT_FALSE(Authentication(secret_, 7, 8 + (1ULL << 40)).is_authentic(packet_));
  EXPECT_TRUE(Authentication(secret_, 7, 8).is_authentic(packet_));
}

// The same on every machine: with another one, or another version, members do not understand each
// other. Computed here once; that it is SipHash of the right text is libsodium's to know.
TEST_F(Tag, IsTheSameEverywhere) {
  sign(Authentication(secret_, 7, 8));
  const auto tag = std::vector(packet_.begin() + kPlainBytes, packet_.begin() + kHeaderBytes);
  EXPECT_EQ(tag, bytes({0x51, 0x60, 0x1a, 0x49, 0x65, 0x82, 0x41, 0xb5, 0xd4, 0x03, 0x54, 0xf9,
                        0xe2, 0x67, 0x53, 0x14}));
}

TEST(ReplayWindow, AcceptsEachNumberOnce) {
  ReplayWindow window;
  EXPECT_FALSE(window.accept(0));
  EXPECT_TRUE(window.accept(1));
  EXPECT_FALSE(window.accept(1));
  EXPECT_TRUE(window.accept(40));
  EXPECT_TRUE(window.accept(39));
  EXPECT_TRUE(window.accept(2));
  EXPECT_FALSE(window.accept(2));
  EXPECT_FALSE(window.accept(39));
  EXPECT_TRUE(window.accept(103));
  EXPECT_FALSE(window.accept(40));  // just within, and seen
  EXPECT_TRUE(window.accept(41));
  EXPECT_TRUE(window.accept(1000));
  EXPECT_FALSE(window.accept(936));  // too old to tell
  EXPECT_TRUE(window.accept(937));
  EXPECT_TRUE(window.accept(UINT32_MAX));
  EXPECT_FALSE(window.accept(UINT32_MAX));
}

}  // namespace
}  // namespace unisono::multicast
