#include "tools/multicast/meeting.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace unisono::multicast {

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

sockaddr_in address_of(const std::string& text, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1)
    fail(text + " is no IPv4 address");
  return address;
}

bool read_all(int socket, std::byte* to, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t came = ::recv(socket, to, bytes, 0);
    if (came <= 0) return false;
    to += came;
    bytes -= static_cast<std::size_t>(came);
  }
  return true;
}

void write_all(int socket, const std::byte* from, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t went = ::send(socket, from, bytes, MSG_NOSIGNAL);
    if (went <= 0) return;
    from += went;
    bytes -= static_cast<std::size_t>(went);
  }
}

int connect_to(const sockaddr_in& address, Clock::time_point until, const std::string& name) {
  for (;;) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      return socket;
    ::close(socket);
    if (Clock::now() > until)
      fail("the first member, " + name + ", does not answer: is it started?");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::vector<int> wait_for_all(const sockaddr_in& address, const std::string& name,
                              std::size_t members, Clock::time_point until) {
  const int door = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  ::setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(door, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(door, 1024) != 0)
    fail("the first member cannot listen at " + name + ": " + std::strerror(errno));
  std::vector<int> sockets(members, -1);
  for (std::size_t came = 1; came < members;) {
    pollfd wait{door, POLLIN, 0};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) <= 0)
      fail("only " + std::to_string(came) + " of " + std::to_string(members) +
           " members came: are all started?");
    const int socket = ::accept4(door, nullptr, nullptr, SOCK_CLOEXEC);
    std::uint32_t who = 0;
    if (socket < 0 || !read_all(socket, reinterpret_cast<std::byte*>(&who), sizeof who)) continue;
    who = ntohl(who);
    if (who == 0 || who >= members || sockets[who] >= 0)
      fail("member " + std::to_string(who) + " came twice, or is none of them");
    sockets[who] = socket;
    ++came;
  }
  ::close(door);
  return sockets;
}

}  // namespace

Meeting::Meeting(const std::vector<std::string>& addresses, int me, int port, double seconds)
    : me_(me), members_(addresses.size()) {
  const sockaddr_in first = address_of(addresses[0], port);
  const auto until = Clock::now() + std::chrono::milliseconds(static_cast<long>(1000 * seconds));
  if (me == 0) {
    sockets_ = wait_for_all(first, addresses[0], addresses.size(), until);
    return;
  }
  sockets_ = {connect_to(first, until, addresses[0])};
  const std::uint32_t who = htonl(static_cast<std::uint32_t>(me));
  write_all(sockets_[0], reinterpret_cast<const std::byte*>(&who), sizeof who);
}

Meeting::~Meeting() {
  for (const int socket : sockets_)
    if (socket >= 0) ::close(socket);
}

std::vector<std::byte> Meeting::gather(std::span<const std::byte> own) {
  if (me_ != 0) {
    write_all(sockets_[0], own.data(), own.size());
    return {};
  }
  std::vector<std::byte> all(own.begin(), own.end());
  all.resize(own.size() * sockets_.size());
  for (std::size_t member = 1; member < sockets_.size(); ++member) {
    std::byte* place = all.data() + member * own.size();
    if (!read_all(sockets_[member], place, own.size())) std::fill_n(place, own.size(), std::byte{});
  }
  return all;
}

std::vector<std::byte> Meeting::exchange(std::span<const std::byte> own) {
  std::vector<std::byte> all = gather(own);
  if (me_ == 0) {
    for (std::size_t member = 1; member < sockets_.size(); ++member)
      write_all(sockets_[member], all.data(), all.size());
    return all;
  }
  all.resize(own.size() * members_);
  if (!read_all(sockets_[0], all.data(), all.size())) fail("the first member has gone");
  return all;
}

}  // namespace unisono::multicast
