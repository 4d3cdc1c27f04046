// A message at its sender: what has gone out, who has how much of it, what is to be repeated.
//
// Both families ask in the end: when a round trip and a half has brought no acknowledgement, `nack`
// sends a poll that names those who are behind, and `ack` the last packet again, to be answered.
// Either is answered to the sender itself, whatever the tree; so a parent that is computing, or
// dead, only costs time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "multicast/hearing.h"
#include "multicast/repairs.h"
#include "multicast/transmitter.h"

namespace unisono::multicast {

class Sending {
 public:
  /// `copy`: of the data, if it was copied and the caller's may change.
  void begin(const Text& text, Family family, int me, int members, std::optional<std::size_t> copy);

  std::uint64_t message() const { return text_.message; }
  const Text& text() const { return text_; }
  std::optional<std::size_t> copy() const { return copy_; }
  /// Nobody will ask for it any more.
  bool is_over() const { return least_ == packets_ && sent_ == packets_; }
  bool all_sent() const { return sent_ == packets_; }
  bool wants_to_send() const { return !all_sent() || !repairs_.is_empty(); }
  std::uint32_t in_flight() const { return sent_ - std::min(sent_, least_); }
  Completion result() const { return result_; }

  /// A member says what it has, of itself and others.
  void heard(const Status& status, std::uint8_t flags, Time now, Transmitter& line);
  /// A member says what it, or another, lacks.
  void asked(const Status& status, Time now, Transmitter& line);
  /// No member that is lost is waited for.
  void give_up_lost(Hearing& hearing);

  /// Sends repairs that are due, while `allowance` lasts; then packets for the first time, no more
  /// than `credit` of them. How many went.
  std::size_t send_repairs(std::size_t allowance, Time now, Transmitter& line);
  std::size_t send_new(std::size_t allowance, std::size_t credit, Time now, Transmitter& line);
  /// Asks those who are behind, if it is time to.
  void ask_if_due(Time now, Transmitter& line);

  /// When one of these must be called again.
  Time deadline(const Hearing& hearing) const;

 private:
  void excuse(int member, Outcome outcome, std::uint64_t other_bytes);
  void find_least();
  void ask(int whom, Transmitter& line);
  void wait_anew(Time now, const Transmitter& line);

  Text text_;
  Family family_ = Family::nack;
  int me_ = 0;
  std::uint32_t packets_ = 0, sent_ = 0, least_ = 0;
  std::vector<std::uint32_t> next_;  // of each member: all before it are there
  std::optional<std::size_t> copy_;
  Repairs repairs_;
  Time begun_ = kNever;  // the first packet went
  Time ask_at_ = kNever;
  int asked_ = 0;  // so often since something last changed
  Completion result_;
};

}  // namespace unisono::multicast
