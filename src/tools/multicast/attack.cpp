// Packets that no member sent, to a group and its members: what they drop, and what it costs them,
// their own `run` says.
#include <arpa/inet.h>
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <stdexcept>

#include "multicast/authentication.h"
#include "multicast/udp_socket.h"
#include "tools/multicast/options.h"

namespace unisono::multicast {

namespace {

using Packet = std::vector<std::byte>;
constexpr std::size_t kCaptured = 256;
constexpr std::size_t kLongest = 2048;

class Attack {
 public:
  explicit Attack(const AttackOptions& options);
  void all();

 private:
  void capture();
  void send(const char* kind, const std::function<Packet(std::size_t)>& make);
  Packet random_packet();
  Packet signed_packet(std::uint64_t epoch);

  const AttackOptions& options_;
  std::unique_ptr<UdpSocket> socket_;
  std::size_t members_ = 0;
  std::vector<Packet> captured_;
  std::mt19937 random_{std::random_device{}()};
};

Attack::Attack(const AttackOptions& options) : options_(options) {
  UdpSettings settings;
  settings.interface = options.where.interface;
  settings.group_address = options.where.group_address;
  settings.group_port = static_cast<std::uint16_t>(options.where.port);
  settings.same_host = true;  // a member may be beside it
  auto socket = UdpSocket::open(settings);
  if (!socket) throw std::runtime_error(socket.error());
  socket_ = std::move(*socket);
  std::vector<Member> members;
  for (const std::string& host : options.where.hosts) {
    in_addr address{};
    if (::inet_pton(AF_INET, host.c_str(), &address) != 1)
      throw std::runtime_error("--hosts: " + host + " is no IPv4 address");
    members.push_back({ntohl(address.s_addr), static_cast<std::uint16_t>(options.where.port + 1)});
  }
  members_ = members.size();
  if (const std::string wrong = socket_->meet(members); !wrong.empty())
    throw std::runtime_error(wrong);
}

/// What goes by, for some seconds at most.
void Attack::capture() {
  std::vector<std::byte> memory(32 * kLongest);
  std::vector<Incoming> rooms(32);
  for (std::size_t i = 0; i < rooms.size(); ++i)
    rooms[i] = {memory.data() + i * kLongest, kLongest};
  for (int tries = 0; tries < 300 && captured_.size() < kCaptured; ++tries) {
    const std::size_t came = socket_->receive(rooms);
    for (std::size_t i = 0; i < came; ++i)
      if (rooms[i].bytes >= kHeaderBytes && rooms[i].bytes <= kLongest)
        captured_.emplace_back(rooms[i].room, rooms[i].room + rooms[i].bytes);
    if (came == 0) ::usleep(10'000);
  }
  fmt::print("captured {} packets\n", captured_.size());
  if (captured_.empty())
    throw std::runtime_error("nothing was sent to the group: attack while a run is under way");
}

void Attack::send(const char* kind, const std::function<Packet(std::size_t)>& make) {
  std::size_t sent = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(options_.count); ++i) {
    const Packet packet = make(i);
    const Outgoing outgoing{packet.data(), packet.size(), nullptr, 0};
    // One in eight to a member alone.
    const int to = members_ > 0 && i % 8 == 7 ? static_cast<int>(i / 8 % members_) : kEverybody;
    while (socket_->send(to, {&outgoing, 1}) == 0) ::usleep(200);
    ++sent;
  }
  fmt::print("{:12} {} packets\n", kind, sent);
  std::fflush(stdout);
}

/// A header that is right as far as can be seen from outside, and a guess at the rest.
Packet Attack::random_packet() {
  Packet packet(kHeaderBytes + random_() % 64);
  for (std::byte& byte : packet) byte = static_cast<std::byte>(random_());
  const Packet& model = captured_[random_() % captured_.size()];
  std::copy_n(model.begin(), kPlainBytes, packet.begin());
  return packet;
}

/// What a member would have sent in another epoch, with the label of this one.
Packet Attack::signed_packet(std::uint64_t epoch) {
  Packet packet = random_packet();
  static const Authentication stale(secret_of(options_.where.secret), options_.where.group, epoch);
  stale.sign(packet.data(), std::span(packet).subspan(kHeaderBytes), kEverybody);
  return packet;
}

void Attack::all() {
  capture();
  send("forged", [&](std::size_t) { return random_packet(); });
  send("replayed", [&](std::size_t i) { return captured_[i % captured_.size()]; });
  send("stale", [&](std::size_t) { return signed_packet(options_.where.epoch - 1); });
  send("truncated", [&](std::size_t i) {
    Packet packet = captured_[i % captured_.size()];
    packet.resize(random_() % std::min<std::size_t>(packet.size(), 100));
    return packet;
  });
  send("foreign", [&](std::size_t) {
    Packet packet = random_packet();
    packet[5] ^= std::byte{1};
    return packet;
  });
}

}  // namespace

int attack(const AttackOptions& options) {
  Attack(options).all();
  return 0;
}

}  // namespace unisono::multicast
