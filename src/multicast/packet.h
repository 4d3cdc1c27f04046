// What is on the wire: a header of 24 bytes, its authentication of 16, and what follows; integers
// in network order. Every packet that a member sends has a number of 64 bits that it never uses
// again. docs/reference/multicast.md shows the layout.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace unisono::multicast {

inline constexpr unsigned kVersion = 2;
inline constexpr std::size_t kPlainBytes = 24;  ///< of the header
inline constexpr std::size_t kTagBytes = 16;
inline constexpr std::size_t kHeaderBytes = kPlainBytes + kTagBytes;
/// Of IPv4 and UDP; and of Ethernet, as a shaper counts it.
inline constexpr std::size_t kIpUdpBytes = 28;
inline constexpr std::size_t kEthernetBytes = 14;
/// Groups are no larger: a bit for each member goes into a packet.
inline constexpr int kMaxMembers = 1024;
/// Messages are numbered up to this: at one in a microsecond that takes nine years.
inline constexpr std::uint64_t kLastMessage = (std::uint64_t{1} << 48) - 1;
/// So many packets after the first missing one are asked for at once.
inline constexpr std::uint32_t kMapPackets = 512;

enum class Kind : std::uint8_t {
  data = 1,
  ack,   ///< who has everything up to `next`
  nack,  ///< `member` lacks what the map says
  poll   ///< the sender asks: who is in `members` answers it directly
};

/// Of data: nothing follows it.
inline constexpr std::uint8_t kLast = 1;
/// Of data: whoever takes it acknowledges what it has, even if it has it already.
inline constexpr std::uint8_t kAnswer = 2;
/// Of an ack: nobody has asked for the message there yet.
inline constexpr std::uint8_t kNotPosted = 4;
/// Of an ack: nobody there needs anything of the message any more.
inline constexpr std::uint8_t kOver = 8;

struct Header {
  Kind kind = Kind::data;
  std::uint8_t flags = 0;
  std::uint16_t from = 0;
  std::uint16_t label = 0;    ///< Authentication::label()
  std::uint64_t message = 0;  ///< 48 bits
  std::uint32_t index = 0;    ///< of data: its place in the message
  std::uint64_t number = 0;   ///< of this packet among all that `from` has sent, from 1 on
};

void write_header(const Header& header, std::byte* to);
/// False: it is of another version or of no kind.
bool read_header(const std::byte* from, Header& header);

/// What follows the header of everything but data.
struct Status {
  std::uint64_t bytes = 0;   ///< of the message, as its sender believes
  std::uint32_t next = 0;    ///< all before it are there; of a poll: so many were sent
  std::uint32_t seen = 0;    ///< none from here on has been seen; of a poll: as `next`
  std::uint16_t member = 0;  ///< whom it is about
  std::span<const std::byte>
      members;  ///< a bit for each: those who have all before `next`, or who are asked
  std::span<const std::byte> missing;  ///< a bit for each packet from `next` on
};
inline constexpr std::size_t kStatusBytes = 22;
inline constexpr std::size_t kMaxStatusBytes = kStatusBytes + kMaxMembers / 8 + kMapPackets / 8;

std::size_t write_status(const Status& status, std::byte* to);
/// The spans point into `from`. False: its lengths do not add up.
bool read_status(std::span<const std::byte> from, Status& status);

/// Bits of `members` and `missing`.
inline bool has_bit(std::span<const std::byte> map, std::size_t i) {
  return i / 8 < map.size() && (map[i / 8] >> (i % 8) & std::byte{1}) != std::byte{0};
}
inline void set_bit(std::span<std::byte> map, std::size_t i) {
  map[i / 8] |= std::byte{1} << (i % 8);
}

}  // namespace unisono::multicast
