// What Linux counts of this process's TCP connections, whoever made them.
#pragma once
#include <vector>

namespace unisono {

class TcpConnections {
 public:
  /// Those that there are now.
  TcpConnections();
  /// Bytes that have come on all of them, also what nobody has read yet; 0 where the kernel does
  /// not tell (before Linux 4.1).
  double received() const;

 private:
  std::vector<int> sockets_;
};

}  // namespace unisono
