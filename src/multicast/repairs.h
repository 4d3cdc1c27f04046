// What others have asked for again of one message. Who is asked waits a little whether more ask: a
// packet goes to one or two members alone, and otherwise to all. If that was in vain twice it goes
// to those alone who ask once more: a switch may have forgotten that they are in the group.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "multicast/socket.h"
#include "multicast/timers.h"

namespace unisono::multicast {

class Repairs {
 public:
  struct Repair {
    std::uint32_t index = 0;
    int to = kEverybody;
  };

  /// Of so many packets. Nothing is allocated before somebody asks.
  void begin(std::uint32_t packets) {
    packets_ = packets;
    wanted_.clear();
    head_ = queued_ = 0;
    due_ = kNever;
  }

  /// Whether this is news: neither asked for by that member already, nor repaired just now.
  bool ask(std::uint32_t index, int member, Time now, const Timers& timers) {
    if (wanted_.empty()) {
      wanted_.resize(packets_);
      queue_.resize(packets_);
    }
    Wanted& wanted = wanted_[index];
    if (wanted.count == 0 && now < wanted.not_before) return false;
    for (int i = 0; i < 2 && i < wanted.count; ++i)
      if (wanted.by[static_cast<std::size_t>(i)] == member) return false;
    if (wanted.count < 2) wanted.by[wanted.count] = static_cast<std::int16_t>(member);
    if (wanted.count < 3) ++wanted.count;
    if (!wanted.queued) {
      wanted.queued = true;
      if (is_empty()) due_ = now + timers.sender_aggregate();
      append(index);
    }
    return true;
  }

  bool is_empty() const { return queued_ == 0; }
  /// When the next repairs are to be sent.
  Time due() const { return is_empty() ? kNever : due_; }
  /// Makes them due.
  void hurry(Time now) { due_ = now; }

  /// The next one, or false; the same until done() is told of it.
  bool next(Repair& repair) const {
    if (is_empty()) return false;
    const std::uint32_t index = queue_[head_];
    const Wanted& wanted = wanted_[index];
    const bool to_all = wanted.count > 2 && wanted.to_all < kMostToAll;
    repair = {index, to_all ? kEverybody : wanted.by[wanted.count > 1 ? 1 : 0]};
    return true;
  }
  /// The repair was sent, to whom it says, or to all.
  void done(Time now, const Timers& timers) {
    Wanted& wanted = wanted_[queue_[head_]];
    if (wanted.count >= 2) {  // the other one follows
      wanted.count = 1;
      return;
    }
    wanted.not_before = now + timers.sender_holdoff();
    skip();
  }
  void done_for_all(Time now, const Timers& timers) {
    Wanted& wanted = wanted_[queue_[head_]];
    wanted.not_before = now + timers.sender_holdoff();
    if (wanted.to_all < kMostToAll) ++wanted.to_all;
    skip();
  }
  /// What went to all for the second time, or the third, has not helped.
  bool must_go_alone() const { return wanted_[queue_[head_]].to_all >= kMostToAll; }
  /// It is not here yet: arrived() brings it back.
  void park() {
    Wanted& wanted = wanted_[queue_[head_]];
    const std::uint8_t count = wanted.count;
    skip();
    wanted.count = count;
  }
  void arrived(std::uint32_t index, Time now) {
    if (wanted_.empty() || wanted_[index].count == 0 || wanted_[index].queued) return;
    wanted_[index].queued = true;
    append(index);
    due_ = now;
  }
  /// Nobody needs it any more.
  void skip() {
    Wanted& wanted = wanted_[queue_[head_]];
    wanted.count = 0;
    wanted.queued = false;
    if (++head_ == packets_) head_ = 0;
    --queued_;
  }

 private:
  static constexpr std::uint8_t kMostToAll = 2;
  struct Wanted {
    Time not_before = 0;
    std::array<std::int16_t, 2> by{};
    std::uint8_t count = 0;   // 3: more than two
    std::uint8_t to_all = 0;  // so often it went
    bool queued = false;
  };

  void append(std::uint32_t index) { queue_[(head_ + queued_++) % packets_] = index; }

  std::uint32_t packets_ = 0;
  std::vector<Wanted> wanted_;
  std::vector<std::uint32_t> queue_;  // a ring: each packet is in it once at most
  std::size_t head_ = 0, queued_ = 0;
  Time due_ = kNever;
};

}  // namespace unisono::multicast
