// Packets of messages that nobody here has asked for yet: kept, up to a number, until somebody
// does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "multicast/packet.h"

namespace unisono::multicast {

class Early {
 public:
  Early(std::size_t packets, std::size_t packet_bytes)
      : packet_bytes_(packet_bytes), bytes_(packets * packet_bytes), kept_(packets) {}

  /// A packet that is no shorter than a header. False: there is no room. One that is here already
  /// is kept once.
  bool keep(std::uint64_t message, std::span<const std::byte> packet) {
    Kept* free = nullptr;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i].length == 0) {
        if (free == nullptr) free = &kept_[i];
      } else if (kept_[i].message == message && is_same(i, packet)) {
        return true;
      }
    }
    if (free == nullptr) return false;
    *free = {message, packet.size()};
    std::memcpy(place(static_cast<std::size_t>(free - kept_.data())), packet.data(), packet.size());
    ++count_;
    return true;
  }

  /// Calls visit(packet) for those of the message, and forgets them and all before.
  template <class Visit>
  void release(std::uint64_t message, Visit visit) {
    for (std::size_t i = 0; count_ > 0 && i < kept_.size(); ++i) {
      if (kept_[i].length == 0 || kept_[i].message > message) continue;
      if (kept_[i].message == message) visit({place(i), kept_[i].length});
      kept_[i].length = 0;
      --count_;
    }
  }

 private:
  struct Kept {
    std::uint64_t message = 0;
    std::size_t length = 0;  // 0: nothing is kept here
  };
  std::byte* place(std::size_t i) { return bytes_.data() + i * packet_bytes_; }
  /// But for its number, and so its tag: it was sent again.
  bool is_same(std::size_t i, std::span<const std::byte> packet) {
    constexpr std::size_t kBeforeNumber = kPlainBytes - sizeof(Header::number);
    return kept_[i].length == packet.size() &&
           std::memcmp(place(i), packet.data(), kBeforeNumber) == 0 &&
           std::memcmp(place(i) + kHeaderBytes, packet.data() + kHeaderBytes,
                       packet.size() - kHeaderBytes) == 0;
  }

  std::size_t packet_bytes_;
  std::vector<std::byte> bytes_;
  std::vector<Kept> kept_;
  std::size_t count_ = 0;
};

}  // namespace unisono::multicast
