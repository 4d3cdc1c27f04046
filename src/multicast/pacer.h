// How fast a host may send: a token bucket, whose rate goes down when many packets get lost and
// creeps up again (additive increase, multiplicative decrease).
//
// A packet lost here and there is no sign of too high a rate on a local network; it is repaired.
// Buffers that overrun lose many in a row: so the rate is cut when one receiver asks for more than
// an eighth of what was sent in a round.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "multicast/socket.h"

namespace unisono::multicast {

class Pacer {
 public:
  /// Bits per second, and bytes that may go at once after a pause.
  Pacer(double rate, std::size_t burst)
      : most_(rate / 8 / kSecond), burst_(static_cast<double>(burst)), tokens_(burst_) {}

  /// So many bytes may go now.
  double allowed(Time now) {
    if (last_ != 0)
      tokens_ = std::min(burst_, tokens_ + share_ * most_ * static_cast<double>(now - last_));
    last_ = now;
    return tokens_;
  }
  /// Bytes that count, and belong to no round.
  void spend(std::size_t bytes) { tokens_ -= static_cast<double>(bytes); }
  void take(std::size_t bytes) {
    spend(bytes);
    in_round_ += 1;
    if (in_round_ == kRound) end_round();
  }
  /// When so many bytes will be allowed. Waiting for single packets would wake the caller for each.
  Time when(std::size_t bytes, Time now) const {
    const double lacking = std::min(burst_, static_cast<double>(bytes)) - tokens_;
    if (lacking <= 0) return now;
    return now + 1 + static_cast<Time>(lacking / (share_ * most_));
  }

  /// How long what was sent ahead of the rate may still be on its way out of this host.
  Time backlog() const { return static_cast<Time>((burst_ - tokens_) / most_); }

  /// A receiver has asked for so many packets, of which it has not asked before.
  void lost(std::uint32_t packets) { worst_ = std::max(worst_, packets); }
  /// How often the rate was cut, and to what share of the highest.
  std::uint64_t cuts() const { return cuts_; }
  double share() const { return share_; }

 private:
  static constexpr std::uint32_t kRound = 64;  // packets
  static constexpr double kLeastShare = 1.0 / 16;

  void end_round() {
    if (worst_ > kRound / 8) {
      share_ = std::max(kLeastShare, share_ * 0.75);
      ++cuts_;
    } else {
      share_ = std::min(1.0, share_ + 1.0 / 32);
    }
    worst_ = 0;
    in_round_ = 0;
  }

  double most_;  // bytes per nanosecond
  double share_ = 1;
  double burst_, tokens_;
  Time last_ = 0;
  std::uint32_t in_round_ = 0, worst_ = 0;
  std::uint64_t cuts_ = 0;
};

}  // namespace unisono::multicast
