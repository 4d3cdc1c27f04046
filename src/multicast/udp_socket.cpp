#include "multicast/udp_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "multicast/packet.h"

namespace unisono::multicast {

namespace {

constexpr std::size_t kMostAtOnce = 64;
constexpr int kMostMtu = 65060;  // the loopback interface has more than a datagram may have
// Of the buffer, what a packet takes beside its bytes: Linux counts its own structures
// (SKB_TRUESIZE), and drivers round up to half a page.
constexpr std::size_t kPerPacket = 1024;
// A sender that knows the credit cannot know what others send at the same time: half of it is for
// those.
constexpr int kShareOfBuffer = 2;

std::string failure(const std::string& what) {
  return "multicast: " + what + ": " + std::strerror(errno);
}

template <class Value>
bool set(int socket, int level, int option, const Value& value) {
  return ::setsockopt(socket, level, option, &value, sizeof value) == 0;
}

struct Interface {
  std::string name;
  in_addr address{};
};

/// By its name or address.
bool find_interface(const std::string& wanted, Interface& found) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return false;
  bool is_found = false;
  for (const ifaddrs* one = all; one != nullptr && !is_found; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    const in_addr address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr;
    std::array<char, INET_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET, &address, text.data(), text.size());
    is_found = wanted == one->ifa_name || wanted == text.data();
    if (is_found) found = {one->ifa_name, address};
  }
  ::freeifaddrs(all);
  return is_found;
}

int mtu_of(int socket, const std::string& name) {
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  return ::ioctl(socket, SIOCGIFMTU, &request) == 0 ? request.ifr_mtu : -1;
}

/// What the system gives: root may exceed what others may have.
int buffer(int socket, int bytes) {
  if (!set(socket, SOL_SOCKET, SO_RCVBUFFORCE, bytes)) set(socket, SOL_SOCKET, SO_RCVBUF, bytes);
  int given = 0;
  socklen_t length = sizeof given;
  ::getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &given, &length);
  return given;
}

std::string bind_to(int socket, const sockaddr_in& address, const std::string& name) {
  // By address the kernel keeps others out already; by device it does so for spoofed ones, too.
  // Kernels before 5.7 allow that to root only.
  if (::setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, name.c_str(),
                   static_cast<socklen_t>(name.size())) != 0 &&
      errno != EPERM)
    return failure("cannot bind to interface " + name);
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return failure("cannot bind to " + std::string(::inet_ntoa(address.sin_addr)) + " port " +
                   std::to_string(ntohs(address.sin_port)));
  return {};
}

}  // namespace

Result<std::unique_ptr<UdpSocket>> UdpSocket::open(const UdpSettings& settings) {
  std::unique_ptr<UdpSocket> socket(new UdpSocket);
  std::string wrong = socket->bind_all(settings);
  if (wrong.empty()) wrong = socket->prepare_sending(settings);
  if (!wrong.empty()) return Error{wrong};
  return socket;
}

UdpSocket::~UdpSocket() {
  if (to_all_ >= 0) ::close(to_all_);
  if (to_me_ >= 0) ::close(to_me_);
}

std::string UdpSocket::bind_all(const UdpSettings& settings) {
  Interface interface;
  if (!find_interface(settings.interface, interface))
    return "multicast: " + settings.interface +
           " is no interface of this host, or has no IPv4 address: ip -4 addr lists them";
  group_.sin_family = AF_INET;
  group_.sin_port = htons(settings.group_port);
  if (::inet_pton(AF_INET, settings.group_address.c_str(), &group_.sin_addr) != 1 ||
      !IN_MULTICAST(ntohl(group_.sin_addr.s_addr)) || settings.group_port == 0)
    return "multicast: " + settings.group_address + " port " + std::to_string(settings.group_port) +
           " is no group: give an address from 239.0.0.0/8 and a port";
  to_all_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  to_me_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (to_all_ < 0 || to_me_ < 0) return failure("cannot make a socket");
  if (settings.same_host) set(to_all_, SOL_SOCKET, SO_REUSEADDR, 1);
  // Otherwise packets of groups that other programs of this host joined would come, too.
  set(to_all_, IPPROTO_IP, IP_MULTICAST_ALL, 0);
  std::string wrong = bind_to(to_all_, group_, interface.name);
  sockaddr_in mine{};
  mine.sin_family = AF_INET;
  mine.sin_addr = interface.address;
  mine.sin_port = htons(settings.own_port);
  if (wrong.empty()) wrong = bind_to(to_me_, mine, interface.name);
  if (!wrong.empty()) return wrong;
  socklen_t length = sizeof mine;
  ::getsockname(to_me_, reinterpret_cast<sockaddr*>(&mine), &length);

  const int mtu = std::min(mtu_of(to_me_, interface.name), kMostMtu);
  if (mtu < 160) return "multicast: the MTU of " + interface.name + " is " + std::to_string(mtu);
  const std::size_t packet = static_cast<std::size_t>(mtu) + kPerPacket;
  const int given = buffer(to_all_, settings.buffer_bytes);
  buffer(to_me_, settings.buffer_bytes);
  index_ = static_cast<int>(::if_nametoindex(interface.name.c_str()));
  myself_ = {ntohl(mine.sin_addr.s_addr), ntohs(mine.sin_port),
             static_cast<std::uint32_t>(static_cast<std::size_t>(mtu) - kIpUdpBytes - kHeaderBytes),
             static_cast<std::uint32_t>(static_cast<std::size_t>(given) / kShareOfBuffer / packet)};
  return {};
}

std::string UdpSocket::prepare_sending(const UdpSettings& settings) {
  const ip_mreqn from{group_.sin_addr, {htonl(myself_.address)}, index_};
  const int loop = settings.same_host ? 1 : 0;
  if (!set(to_me_, IPPROTO_IP, IP_MULTICAST_IF, from) ||
      !set(to_me_, IPPROTO_IP, IP_MULTICAST_TTL, 1) || !set(to_me_, IPPROTO_IP, IP_TTL, 1) ||
      !set(to_me_, IPPROTO_IP, IP_MULTICAST_LOOP, loop))
    return failure("cannot send by multicast on " + settings.interface);
  // What would be cut on its way is an error here.
  set(to_me_, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
  if (settings.rate > 0) {
    const auto rate = static_cast<std::uint64_t>(settings.rate / 8);
    set(to_me_, SOL_SOCKET, SO_MAX_PACING_RATE, rate);  // where there is no fq nobody looks at it
  }
  return {};
}

std::string UdpSocket::meet(const std::vector<Member>& members) {
  const ip_mreqn request{group_.sin_addr, {htonl(myself_.address)}, index_};
  if (!set(to_all_, IPPROTO_IP, IP_ADD_MEMBERSHIP, request))
    return failure("cannot join " + std::string(::inet_ntoa(group_.sin_addr)));
  members_.clear();
  for (const Member& member : members) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(member.port);
    address.sin_addr.s_addr = htonl(member.address);
    members_.push_back(address);
  }
  return {};
}

void UdpSocket::join_again() {
  const ip_mreqn request{group_.sin_addr, {htonl(myself_.address)}, index_};
  set(to_all_, IPPROTO_IP, IP_DROP_MEMBERSHIP, request);
  set(to_all_, IPPROTO_IP, IP_ADD_MEMBERSHIP, request);
}

// --- sending -------------------------------------------------------------------------------------

std::size_t UdpSocket::send(int to, std::span<const Outgoing> packets) {
  const sockaddr_in& address = to == kEverybody ? group_ : members_[static_cast<std::size_t>(to)];
  std::size_t sent = 0;
  while (sent < packets.size()) {
    const auto part = packets.subspan(sent, std::min(kMostAtOnce, packets.size() - sent));
    std::size_t taken = 0;
    if (segments_ && part.size() > 1) taken = send_segmented(address, part);
    if (taken == 0) taken = send_singly(address, part);
    sent += taken;
    if (taken < part.size()) break;
  }
  return sent;
}

/// One datagram, which the kernel or the card cuts. All or nothing.
std::size_t UdpSocket::send_segmented(const sockaddr_in& to, std::span<const Outgoing> packets) {
  std::array<iovec, 2 * kMostAtOnce> pieces;
  const std::size_t one = packets[0].header_bytes + packets[0].payload_bytes;
  std::size_t count = 0, total = 0;
  for (const Outgoing& packet : packets) {
    pieces[count++] = {const_cast<std::byte*>(packet.header), packet.header_bytes};
    pieces[count++] = {const_cast<std::byte*>(packet.payload), packet.payload_bytes};
    total += packet.header_bytes + packet.payload_bytes;
  }
  if (total > 65535 - kIpUdpBytes) return 0;
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(std::uint16_t))> control{};
  msghdr message{};
  message.msg_name = const_cast<sockaddr_in*>(&to);
  message.msg_namelen = sizeof to;
  message.msg_iov = pieces.data();
  message.msg_iovlen = count;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* segment = CMSG_FIRSTHDR(&message);
  segment->cmsg_level = SOL_UDP;
  segment->cmsg_type = UDP_SEGMENT;
  segment->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
  const auto length = static_cast<std::uint16_t>(one);
  std::memcpy(CMSG_DATA(segment), &length, sizeof length);
  if (::sendmsg(to_me_, &message, MSG_NOSIGNAL) >= 0) return packets.size();
  // A kernel before 4.18, or a device without checksums, says so each time: it is not asked again.
  if (errno == EINVAL || errno == EIO || errno == EOPNOTSUPP || errno == ENOPROTOOPT)
    segments_ = false;
  return 0;
}

std::size_t UdpSocket::send_singly(const sockaddr_in& to, std::span<const Outgoing> packets) {
  std::array<std::array<iovec, 2>, kMostAtOnce> pieces;
  std::array<mmsghdr, kMostAtOnce> messages{};
  for (std::size_t i = 0; i < packets.size(); ++i) {
    pieces[i] = {iovec{const_cast<std::byte*>(packets[i].header), packets[i].header_bytes},
                 iovec{const_cast<std::byte*>(packets[i].payload), packets[i].payload_bytes}};
    messages[i].msg_hdr.msg_name = const_cast<sockaddr_in*>(&to);
    messages[i].msg_hdr.msg_namelen = sizeof to;
    messages[i].msg_hdr.msg_iov = pieces[i].data();
    messages[i].msg_hdr.msg_iovlen = 2;
  }
  const auto count = static_cast<unsigned>(packets.size());
  int sent = ::sendmmsg(to_me_, messages.data(), count, MSG_NOSIGNAL);
  // An earlier packet was refused by its host: that is told once, and not about this one.
  if (sent < 0 && errno == ECONNREFUSED)
    sent = ::sendmmsg(to_me_, messages.data(), count, MSG_NOSIGNAL);
  return sent < 0 ? 0 : static_cast<std::size_t>(sent);
}

// --- receiving -----------------------------------------------------------------------------------

std::size_t UdpSocket::receive(std::span<Incoming> rooms) {
  // What is for this member alone is short and rare, and others wait for the answer. Unless a flood
  // comes there: then it is the other socket's turn.
  const int first = to_me_filled_all_ ? to_all_ : to_me_;
  const std::size_t came = receive_from(first, rooms);
  to_me_filled_all_ = first == to_me_ && came == rooms.size();
  return came + receive_from(first == to_me_ ? to_all_ : to_me_, rooms.subspan(came));
}

std::size_t UdpSocket::receive_from(int socket, std::span<Incoming> rooms) {
  std::array<mmsghdr, kMostAtOnce> messages{};
  std::array<iovec, kMostAtOnce> pieces;
  const std::size_t most = std::min(rooms.size(), kMostAtOnce);
  for (std::size_t i = 0; i < most; ++i) {
    pieces[i] = {rooms[i].room, rooms[i].room_bytes};
    messages[i].msg_hdr.msg_iov = &pieces[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  if (most == 0) return 0;
  const int came =
      ::recvmmsg(socket, messages.data(), static_cast<unsigned>(most), MSG_DONTWAIT, nullptr);
  for (int i = 0; i < came; ++i) {
    const mmsghdr& one = messages[static_cast<std::size_t>(i)];
    const bool is_cut = (one.msg_hdr.msg_flags & MSG_TRUNC) != 0;
    Incoming& room = rooms[static_cast<std::size_t>(i)];
    room.to_all = socket == to_all_;
    room.bytes = is_cut ? room.room_bytes + 1 : one.msg_len;
  }
  return came < 0 ? 0 : static_cast<std::size_t>(came);
}

}  // namespace unisono::multicast
