// How often a member answers others about messages that it does not have under way: once in a round
// about the same message, and about few of them, whatever comes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "multicast/socket.h"

namespace unisono::multicast {

class Answers {
 public:
  explicit Answers(std::size_t members) : given_(members) {}

  bool may_answer(std::size_t member, std::uint64_t message, Time now, Time round) {
    Given& given = given_[member];
    if (now >= given.round_ends) given = {now + round, 0, 0};
    if (given.answers == kMost || (given.answers > 0 && given.message == message)) return false;
    given.message = message;
    ++given.answers;
    return true;
  }

 private:
  static constexpr int kMost = 32;
  struct Given {
    Time round_ends = 0;
    std::uint64_t message = 0;  // the last one
    int answers = 0;
  };
  std::vector<Given> given_;
};

}  // namespace unisono::multicast
