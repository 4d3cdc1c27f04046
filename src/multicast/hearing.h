// When something was last heard of each member, and who has been silent for too long.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "multicast/socket.h"

namespace unisono::multicast {

class Hearing {
 public:
  /// A limit of 0: nobody is ever lost.
  Hearing(int members, Time limit)
      : limit_(limit), last_(static_cast<std::size_t>(members)), is_lost_(last_.size(), false) {}

  /// At each look; `due`: when it was to be. Who was away cannot say that others were silent.
  void listen(Time now, Time due) {
    if (due == kNever || now - due > limit_ / 2) since_ = now;
    listened_ = now;
  }
  void heard(int member) {
    last_[at(member)] = listened_;
    is_lost_[at(member)] = false;
  }
  /// Silent for too long, where it was to be heard from `since` on. It stays lost until heard.
  bool loses(int member, Time since) {
    if (!is_lost_[at(member)]) is_lost_[at(member)] = listened_ >= would_lose(member, since);
    return is_lost_[at(member)];
  }
  Time would_lose(int member, Time since) const {
    if (limit_ == 0 || since == kNever) return kNever;
    return std::max({last_[at(member)], since, since_}) + limit_;
  }
  bool has_limit() const { return limit_ != 0; }

 private:
  static std::size_t at(int member) { return static_cast<std::size_t>(member); }

  Time limit_;
  Time listened_ = 0, since_ = 0;
  std::vector<Time> last_;
  std::vector<bool> is_lost_;
};

}  // namespace unisono::multicast
