#include "multicast/authentication.h"

#include <sodium/crypto_generichash.h>
#include <sodium/crypto_shorthash_siphash24.h>
#include <sodium/crypto_verify_16.h>
#include <sodium/utils.h>

#include <cassert>
#include <cstring>

namespace unisono::multicast {

namespace {

static_assert(crypto_shorthash_siphashx24_BYTES == kTagBytes);

using Tag = std::array<unsigned char, kTagBytes>;

const unsigned char* chars(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

// libsodium hashes what lies in one piece, and a payload does not lie behind its header. So the
// payload is hashed with a key of its own, and header and that hash with another: to find two
// payloads that one tag fits is to break the first of the two.
Tag tag_of(const std::byte* plain_header, std::span<const std::byte> payload, int to,
           const unsigned char* data_key, const unsigned char* header_key) {
  std::array<unsigned char, kPlainBytes + kTagBytes + 2> text;
  std::memcpy(text.data(), plain_header, kPlainBytes);
  crypto_shorthash_siphashx24(text.data() + kPlainBytes, chars(payload.data()), payload.size(),
                              data_key);
  text[kPlainBytes + kTagBytes] = static_cast<unsigned char>(to);
  text[kPlainBytes + kTagBytes + 1] = static_cast<unsigned char>(to >> 8);
  Tag tag;
  crypto_shorthash_siphashx24(tag.data(), text.data(), text.size(), header_key);
  return tag;
}

}  // namespace

Authentication::Authentication(std::span<const std::byte> secret, std::uint64_t group,
                               std::uint64_t epoch) {
  assert(secret.size() == 16 || secret.size() == 32);
  std::array<std::byte, 16> about;
  for (std::size_t i = 0; i < 8; ++i) {  // alike whatever the order of bytes here
    about[i] = static_cast<std::byte>(group >> (8 * i));
    about[8 + i] = static_cast<std::byte>(epoch >> (8 * i));
  }
  std::array<unsigned char, 34> keys;
  crypto_generichash(keys.data(), keys.size(), chars(about.data()), about.size(),
                     chars(secret.data()), secret.size());
  std::memcpy(data_key_.data(), keys.data(), 16);
  std::memcpy(header_key_.data(), keys.data() + 16, 16);
  label_ = static_cast<std::uint16_t>(keys[32] | keys[33] << 8);
  sodium_memzero(keys.data(), keys.size());
}

Authentication::~Authentication() {
  sodium_memzero(data_key_.data(), data_key_.size());
  sodium_memzero(header_key_.data(), header_key_.size());
}

void Authentication::sign(std::byte* header, std::span<const std::byte> payload, int to) const {
  const Tag tag = tag_of(header, payload, to, data_key_.data(), header_key_.data());
  std::memcpy(header + kPlainBytes, tag.data(), kTagBytes);
}

bool Authentication::is_authentic(std::span<const std::byte> packet, int to) const {
  const Tag tag =
      tag_of(packet.data(), packet.subspan(kHeaderBytes), to, data_key_.data(), header_key_.data());
  return crypto_verify_16(tag.data(), chars(packet.data() + kPlainBytes)) == 0;
}

}  // namespace unisono::multicast
