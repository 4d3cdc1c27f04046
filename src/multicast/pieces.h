// How a message is cut into packets: all but the last one are full, and a message without bytes is
// one empty packet.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace unisono::multicast {

struct Pieces {
  std::uint64_t bytes = 0;
  std::uint32_t payload = 1;  ///< of a full packet

  std::uint32_t packets() const {
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (bytes + payload - 1) / payload));
  }
  std::uint64_t offset(std::uint32_t index) const { return std::uint64_t{index} * payload; }
  std::size_t length(std::uint32_t index) const {
    return static_cast<std::size_t>(std::min<std::uint64_t>(payload, bytes - offset(index)));
  }
  bool is_last(std::uint32_t index) const { return index + 1 == packets(); }

  /// Numbers of packets have 32 bits.
  static bool can_be_cut(std::uint64_t bytes, std::uint32_t payload) {
    return bytes / payload < UINT32_MAX - 1;
  }
};

}  // namespace unisono::multicast
