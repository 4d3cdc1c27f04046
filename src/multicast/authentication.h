// Who does not know the group's secret can make no packet of it: SipHash-2-4 with a key of 128 bits
// and a tag of 128 bits (Aumasson, Bernstein, INDOCRYPT 2012), from libsodium (docs/adr/0038).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "multicast/packet.h"
#include "multicast/socket.h"

namespace unisono::multicast {

class Authentication {
 public:
  /// The secret has 16 or 32 bytes. The key is a keyed hash (BLAKE2b) of group and epoch: what was
  /// sent in another epoch is as good as forged in this one.
  Authentication(std::span<const std::byte> secret, std::uint64_t group, std::uint64_t epoch);
  ~Authentication();
  Authentication(const Authentication&) = delete;
  Authentication& operator=(const Authentication&) = delete;

  /// What packets of this secret, group and epoch carry: most that are of another one are known by
  /// it without a look at their payload. No secret.
  std::uint16_t label() const { return label_; }
  /// Writes the tag behind the plain header. The two pieces are what goes on the wire; the payload
  /// need not lie behind the header. `to`: a member, or kEverybody; it is not in the packet, but
  /// one that was for another member is as good as forged.
  void sign(std::byte* header, std::span<const std::byte> payload, int to) const;
  /// Of a whole packet that is no shorter than a header.
  bool is_authentic(std::span<const std::byte> packet, int to) const;

 private:
  std::array<unsigned char, 16> data_key_, header_key_;
  std::uint16_t label_ = 0;
};

}  // namespace unisono::multicast
