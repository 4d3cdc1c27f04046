// The UDP sockets of a member: one for what is sent to all, bound to the group's address, and one
// for what is sent to it alone, bound to its own. Both see packets of one interface only.
#pragma once
#include <netinet/in.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "multicast/group.h"
#include "multicast/socket.h"

namespace unisono::multicast {

struct UdpSettings {
  /// This host's IPv4 address or interface ("10.77.0.1", "eth0").
  std::string interface;
  std::string group_address = "239.255.77.1";  ///< administratively scoped (RFC 2365)
  std::uint16_t group_port = 0;                ///< the same on all members
  std::uint16_t own_port = 0;                  ///< of this member; 0: any that is free
  /// Bytes of the receive buffer to ask for; the system may give less. What it gave is the credit.
  int buffer_bytes = 4 << 20;
  /// Bits per second, for the interface's fair queue where it has one (man tc-fq). 0: no limit.
  double rate = 0;
  /// Members may be on this host, too: for tests on the loopback interface.
  bool same_host = false;
};

class UdpSocket : public Socket {
 public:
  /// Bound, not yet joined; what was wrong, with the system's reason.
  static Result<std::unique_ptr<UdpSocket>> open(const UdpSettings& settings);
  ~UdpSocket() override;
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  /// What the others must know.
  Member myself() const { return myself_; }
  /// Joins the group, and learns where its members are. An empty text, or what was wrong.
  std::string meet(const std::vector<Member>& members);

  std::size_t send(int to, std::span<const Outgoing> packets) override;
  std::size_t receive(std::span<Incoming> rooms) override;
  void join_again() override;
  std::array<int, 2> descriptors() const override { return {to_all_, to_me_}; }
  /// Whether the kernel cuts what it is given into packets (UDP_SEGMENT), as long as it works.
  bool segments() const { return segments_; }

 private:
  UdpSocket() = default;
  std::string bind_all(const UdpSettings& settings);
  std::string prepare_sending(const UdpSettings& settings);
  std::size_t send_segmented(const sockaddr_in& to, std::span<const Outgoing> packets);
  std::size_t send_singly(const sockaddr_in& to, std::span<const Outgoing> packets);
  std::size_t receive_from(int socket, std::span<Incoming> rooms);

  int to_all_ = -1, to_me_ = -1;
  int index_ = 0;  // of the interface
  bool segments_ = true;
  bool to_me_filled_all_ = false;  // at the last receive()
  sockaddr_in group_{};
  std::vector<sockaddr_in> members_;
  Member myself_;
};

}  // namespace unisono::multicast
