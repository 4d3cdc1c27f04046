// Loses a share of what comes, as a switch would.
#pragma once
#include <random>
#include <utility>

#include "multicast/socket.h"

namespace unisono::multicast {

class LossySocket : public Socket {
 public:
  LossySocket(Socket& socket, double loss, unsigned seed)
      : socket_(socket), loss_(loss), random_(seed) {}

  std::size_t send(int to, std::span<const Outgoing> packets) override {
    return socket_.send(to, packets);
  }
  /// What is lost leaves its room to the next, so that fewer than there are rooms means, as ever,
  /// that nothing is left: a batch that lost some is filled up.
  std::size_t receive(std::span<Incoming> rooms) override {
    std::size_t kept = 0;
    for (;;) {
      const auto free = rooms.subspan(kept);
      const std::size_t came = free.empty() ? 0 : socket_.receive(free);
      for (std::size_t i = 0; i < came; ++i)
        if (!is_lost()) std::swap(rooms[kept++], free[i]);
      if (came < free.size() || kept == rooms.size()) return kept;
    }
  }
  void join_again() override { socket_.join_again(); }
  std::array<int, 2> descriptors() const override { return socket_.descriptors(); }
  std::uint64_t lost() const { return lost_; }

 private:
  bool is_lost() {
    const bool lost = loss_ > 0 && std::uniform_real_distribution<>(0, 1)(random_) < loss_;
    lost_ += lost ? 1 : 0;
    return lost;
  }

  Socket& socket_;
  double loss_;
  std::mt19937 random_;
  std::uint64_t lost_ = 0;
};

}  // namespace unisono::multicast
