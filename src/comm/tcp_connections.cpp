#include "comm/tcp_connections.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

namespace unisono {

namespace {

/// 0 also for what is no TCP connection.
double received_on(int socket) {
  constexpr std::size_t kNeeded = offsetof(tcp_info, tcpi_bytes_received) + sizeof(__u64);
  tcp_info info{};
  socklen_t length = sizeof info;
  const bool told = ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) == 0;
  return told && length >= kNeeded ? static_cast<double>(info.tcpi_bytes_received) : 0;
}

}  // namespace

TcpConnections::TcpConnections() {
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename();
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (received_on(number) > 0) sockets_.push_back(number);
  }
}

double TcpConnections::received() const {
  double bytes = 0;
  for (const int socket : sockets_) bytes += received_on(socket);
  return bytes;
}

}  // namespace unisono
