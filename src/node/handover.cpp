#include "node/handover.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace unisono::node {

namespace {

constexpr int kMostCallers = 4096;
// All have agreed to come, so only a process that stands in a debugger takes longer.
constexpr int kPatience = 10'000;  // ms

OwnFile open_socket() {
  return OwnFile(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

struct Address {
  sockaddr_un name{};
  socklen_t length = 0;
  const sockaddr* plain() const { return reinterpret_cast<const sockaddr*>(&name); }
};

Address address_of(const HandoverName& name) {
  static_assert(sizeof(HandoverName) < sizeof(sockaddr_un::sun_path));
  Address address;
  address.name.sun_family = AF_UNIX;
  const std::size_t length = strnlen(name.data(), name.size());
  std::memcpy(address.name.sun_path + 1, name.data(), length);  // the first byte is 0: no file
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return address;
}

bool is_this_users(const OwnFile& caller) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(caller.number(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
         peer.uid == geteuid();
}

/// A message of one byte, and room for one descriptor beside it.
struct Envelope {
  char byte = 0;
  iovec text{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  msghdr message{nullptr, 0, &text, 1, room.data(), room.size(), 0};
};

}  // namespace

OwnFile::~OwnFile() {
  if (file_ >= 0) close(file_);
}

OwnFile offer(HandoverName& name) {
  name = {};
  std::array<std::uint64_t, 2> bits{};
  OwnFile offered = open_socket();
  if (!offered || getrandom(bits.data(), sizeof bits, 0) != static_cast<ssize_t>(sizeof bits))
    return OwnFile();
  HandoverName random{};
  std::snprintf(random.data(), random.size(), "unisono-memory-%016llx%016llx",
                static_cast<unsigned long long>(bits[0]), static_cast<unsigned long long>(bits[1]));
  const Address address = address_of(random);
  if (bind(offered.number(), address.plain(), address.length) != 0 ||
      listen(offered.number(), kMostCallers) != 0)
    return OwnFile();
  name = random;
  return offered;
}

void give(const OwnFile& offered, int file) {
  for (int callers = 0; callers < kMostCallers; ++callers) {
    const OwnFile caller(accept4(offered.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!caller) return;
    if (!is_this_users(caller)) continue;
    Envelope envelope;
    cmsghdr* header = CMSG_FIRSTHDR(&envelope.message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
    static_cast<void>(sendmsg(caller.number(), &envelope.message, MSG_NOSIGNAL | MSG_DONTWAIT));
  }
}

OwnFile call_giver(const HandoverName& name) {
  OwnFile called = open_socket();
  const Address address = address_of(name);
  if (name[0] == '\0' || !called || connect(called.number(), address.plain(), address.length) != 0)
    return OwnFile();
  return called;
}

int take(const OwnFile& called) {
  pollfd ready{called.number(), POLLIN, 0};
  Envelope envelope;
  if (poll(&ready, 1, kPatience) != 1 ||
      recvmsg(called.number(), &envelope.message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1)
    return -1;
  const cmsghdr* header = CMSG_FIRSTHDR(&envelope.message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(sizeof(int)))
    return -1;
  int file = -1;
  std::memcpy(&file, CMSG_DATA(header), sizeof file);
  return file;
}

}  // namespace unisono::node
