// A message at one of its receivers: what has come, what must be asked for, and what this member
// does for those below it in the tree: it gathers their acknowledgements and repairs from what it
// has itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "multicast/hearing.h"
#include "multicast/repairs.h"
#include "multicast/transmitter.h"
#include "multicast/tree.h"

namespace unisono::multicast {

struct Expected {
  std::uint64_t message = 0;
  std::byte* into = nullptr;
  std::uint64_t bytes = 0;
  Family family = Family::nack;
  Tree tree;
  std::uint32_t window = 1;  ///< acknowledged every so many packets
};

class Receiving {
 public:
  void begin(const Expected& expected, const Transmitter& line);

  std::uint64_t message() const { return expected_.message; }
  int root() const { return expected_.tree.root(); }
  /// Not yet complete, in whatever way.
  bool is_open() const { return is_open_; }
  /// Nobody waits for this member any more: the sender has said that all have it, or is lost.
  bool is_over() const { return !is_open_ && is_released_; }
  /// Once, when it is not open any more.
  void report(std::vector<Completion>& to) {
    if (!is_open_ && !std::exchange(is_reported_, true)) to.push_back(result_);
  }

  /// A packet of data has come. It answers, if it is to.
  void take(std::uint32_t index, std::uint8_t flags, std::span<const std::byte> payload, Time now,
            Transmitter& line);
  /// Somebody below says what it, or those below it, have; what it lacks; the sender asks.
  void heard(const Status& status, Transmitter& line);
  /// The sender has nothing more of it to send, and waits for nobody.
  void sender_is_over(Time now, Transmitter& line) {
    if (is_open_) close(Outcome::given_up, 0, now, line);
    is_released_ = true;
  }
  void asked(const Status& status, Time now, Transmitter& line);
  void polled(const Status& status, Time now, Transmitter& line);
  /// What is to be done by now. `drained`: nothing waits in the socket that might be what is
  /// missing.
  void keep_time(bool drained, Hearing& hearing, Time now, Transmitter& line);
  /// As far as `allowance` goes. How many went.
  std::size_t send_repairs(std::size_t allowance, Time now, Transmitter& line);

  Time deadline(const Hearing& hearing) const;

 private:
  bool has(std::uint32_t index) const { return (have_[index / 64] >> (index % 64) & 1U) != 0; }
  bool fits(std::uint32_t index, std::uint8_t flags, std::size_t length) const;
  void close(Outcome outcome, std::uint64_t other_bytes, Time now, Transmitter& line);
  void expect_more(bool opens_gap, Time now, Transmitter& line);
  void acknowledge(Transmitter& line);
  void answer(Time now, Transmitter& line);
  void ask(Time now, Transmitter& line);
  void ask_whether_over(bool drained, Time now, Transmitter& line);
  /// All that this member knows, about those who have all before `next`.
  void tell(int to, Kind kind, std::uint32_t next, std::uint32_t until, Transmitter& line);
  std::uint32_t least_below() const;

  Expected expected_;
  Pieces pieces_;
  int me_ = 0;
  bool is_open_ = false, is_reported_ = false, is_released_ = false;
  std::uint32_t packets_ = 0;
  std::vector<std::uint64_t> have_;    // a bit for each packet
  std::uint32_t next_ = 0, seen_ = 0;  // all before are here; none from there on has been seen
  std::vector<std::uint16_t> below_;   // members: this one, and those below it
  std::vector<std::uint32_t> has_;     // all before that, of each of them
  std::uint32_t told_ = 0;             // the parent knows that all of them have all before
  Repairs repairs_;
  Time since_ = kNever;  // it has been waited for
  Time ask_at_ = kNever, answer_at_ = kNever;
  Time round_ends_ = 0;  // of the last answer
  int asked_ = 0;
  Completion result_;
};

}  // namespace unisono::multicast
