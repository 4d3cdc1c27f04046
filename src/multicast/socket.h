// What a group sends and receives packets through: a host's UDP sockets (udp_socket.h), or, in the
// tests, a network that is made up.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace unisono::multicast {

/// Nanoseconds of a clock that never goes back. The caller reads it: nothing here does.
using Time = std::int64_t;
inline constexpr Time kMicrosecond = 1000;
inline constexpr Time kMillisecond = 1000 * kMicrosecond;
inline constexpr Time kSecond = 1000 * kMillisecond;
inline constexpr Time kNever = INT64_MAX;

/// A packet goes to one member, or to all others at once.
inline constexpr int kEverybody = -1;

/// A packet in two pieces, so that a payload is sent from where it lies.
struct Outgoing {
  const std::byte* header = nullptr;
  std::size_t header_bytes = 0;
  const std::byte* payload = nullptr;
  std::size_t payload_bytes = 0;
};

/// Room for one packet, and how many bytes came into it: one that was longer was cut, and is no
/// packet of a group.
struct Incoming {
  std::byte* room = nullptr;
  std::size_t room_bytes = 0;
  std::size_t bytes = 0;
  bool to_all = false;  ///< it was sent to everybody
};

class Socket {
 public:
  virtual ~Socket() = default;
  /// Never blocks. How many of the packets were taken, the first ones; fewer when there is no room.
  /// All but the last one are of one length.
  virtual std::size_t send(int to, std::span<const Outgoing> packets) = 0;
  /// Never blocks. How many packets have come into the first of the rooms.
  virtual std::size_t receive(std::span<Incoming> rooms) = 0;
  /// Says to the network once more that this member is in the group.
  virtual void join_again() {}
  /// For poll(): readable when a packet may have come. -1: none.
  virtual std::array<int, 2> descriptors() const { return {-1, -1}; }
};

}  // namespace unisono::multicast
