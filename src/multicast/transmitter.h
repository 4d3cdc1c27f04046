// Signs packets and hands them to the socket, no faster than the rate. What the receiver and sender
// of a message share with each other stands here as well: who we are, how many, the timers.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "multicast/authentication.h"
#include "multicast/group.h"
#include "multicast/pacer.h"
#include "multicast/packet.h"
#include "multicast/pieces.h"
#include "multicast/timers.h"

namespace unisono::multicast {

/// A message as its packets are cut from it.
struct Text {
  std::uint64_t message = 0;
  const std::byte* data = nullptr;
  Pieces pieces;
};

class Transmitter {
 public:
  /// What is handed to the socket at once: 32 packets of 1472 bytes are within the 64 KiB that
  /// the kernel cuts.
  static constexpr std::size_t kBatch = 32;

  Transmitter(const Options& options, std::uint32_t payload, Socket& socket);

  /// How many of the packets, the first ones, were taken. `flags` beside kLast.
  std::size_t send_data(int to, const Text& text, std::span<const std::uint32_t> indices,
                        std::uint8_t flags);
  /// A control packet about a message; not paced, but counted. If the socket has no room it is
  /// lost, as it may be later.
  void send_status(int to, Kind kind, std::uint8_t flags, std::uint64_t message,
                   const Status& status);

  /// So many full packets may be sent now.
  std::size_t allowance(Time now);
  /// When it is worth the while to come again.
  Time next_allowance(Time now) const;

  /// `to_all`: it was sent to everybody, else to this member.
  bool is_authentic(std::span<const std::byte> packet, bool to_all) const {
    return authentication_.is_authentic(packet, to_all ? kEverybody : me);
  }
  std::uint16_t label() const { return authentication_.label(); }

  const int me, members;
  const std::uint32_t payload;
  const Timers timers;
  Counters counters;
  Pacer pacer;
  Random random;

 private:
  std::size_t frame(std::size_t bytes) const {
    return kEthernetBytes + kIpUdpBytes + kHeaderBytes + bytes;
  }

  Socket& socket_;
  Authentication authentication_;
  std::uint64_t numbered_ = 0;  // packets
  std::array<std::array<std::byte, kHeaderBytes>, kBatch> headers_;
  std::array<Outgoing, kBatch> batch_;
};

}  // namespace unisono::multicast
