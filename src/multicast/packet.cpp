#include "multicast/packet.h"

#include <arpa/inet.h>
#include <endian.h>

#include <cstring>

namespace unisono::multicast {

namespace {

void put16(std::byte*& at, std::uint16_t value) {
  value = htobe16(value);
  std::memcpy(at, &value, sizeof value);
  at += sizeof value;
}
void put32(std::byte*& at, std::uint32_t value) {
  value = htobe32(value);
  std::memcpy(at, &value, sizeof value);
  at += sizeof value;
}
void put64(std::byte*& at, std::uint64_t value) {
  value = htobe64(value);
  std::memcpy(at, &value, sizeof value);
  at += sizeof value;
}
std::uint16_t get16(const std::byte*& at) {
  std::uint16_t value = 0;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return be16toh(value);
}
std::uint32_t get32(const std::byte*& at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return be32toh(value);
}
std::uint64_t get64(const std::byte*& at) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return be64toh(value);
}

}  // namespace

void write_header(const Header& header, std::byte* to) {
  *to++ = static_cast<std::byte>(kVersion << 4 | static_cast<unsigned>(header.kind));
  *to++ = static_cast<std::byte>(header.flags);
  put16(to, header.from);
  put16(to, header.label);
  put16(to, static_cast<std::uint16_t>(header.message >> 32));
  put32(to, static_cast<std::uint32_t>(header.message));
  put32(to, header.index);
  put64(to, header.number);
}

bool read_header(const std::byte* from, Header& header) {
  const auto first = std::to_integer<unsigned>(*from++);
  header.kind = static_cast<Kind>(first & 15U);
  header.flags = std::to_integer<std::uint8_t>(*from++);
  header.from = get16(from);
  header.label = get16(from);
  header.message = std::uint64_t{get16(from)} << 32;
  header.message |= get32(from);
  header.index = get32(from);
  header.number = get64(from);
  return first >> 4 == kVersion && header.kind >= Kind::data && header.kind <= Kind::poll;
}

std::size_t write_status(const Status& status, std::byte* to) {
  std::byte* at = to;
  put64(at, status.bytes);
  put32(at, status.next);
  put32(at, status.seen);
  put16(at, status.member);
  put16(at, static_cast<std::uint16_t>(status.members.size()));
  put16(at, static_cast<std::uint16_t>(status.missing.size()));
  for (const auto map : {status.members, status.missing}) {
    if (!map.empty()) std::memcpy(at, map.data(), map.size());
    at += map.size();
  }
  return static_cast<std::size_t>(at - to);
}

bool read_status(std::span<const std::byte> from, Status& status) {
  if (from.size() < kStatusBytes) return false;
  const std::byte* at = from.data();
  status.bytes = get64(at);
  status.next = get32(at);
  status.seen = get32(at);
  status.member = get16(at);
  const std::size_t members = get16(at);
  const std::size_t missing = get16(at);
  if (members > kMaxMembers / 8 || missing > kMapPackets / 8) return false;
  if (from.size() != kStatusBytes + members + missing) return false;
  status.members = from.subspan(kStatusBytes, members);
  status.missing = from.subspan(kStatusBytes + members, missing);
  return true;
}

}  // namespace unisono::multicast
