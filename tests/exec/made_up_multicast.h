// Messages to groups, for tests: all members of a group share its messages by number; each takes
// its copy after a delay of its own, and the sender learns of it late or at once.
#pragma once
#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "tests/exec/made_up_network.h"

namespace unisono {

/// The groups of all ranks.
struct MadeUpGroups {
  struct Sent {
    std::vector<std::byte> bytes;
    int root = kNobody;
    std::vector<int> members;  ///< that do not have it yet
  };
  std::map<std::pair<std::vector<int>, Count>, Sent> messages;
};

/// Of one rank.
class MadeUpMulticast final : public Transport {
 public:
  MadeUpMulticast(MadeUpNetwork& network, MadeUpGroups& groups, const Schedule& schedule, int rank,
                  std::size_t unit_bytes)
      : network_(network), groups_(groups), schedule_(schedule), rank_(rank), unit_(unit_bytes) {}

  int start(const Message& message, std::vector<OpId>& completed, Started& started) override {
    started.portions = 1;
    if (message.kind == OpKind::recv_multicast) {
      posted_.push_back(message);
      return MPI_SUCCESS;
    }
    MadeUpGroups::Sent& sent = groups_.messages[key(message)];
    sent.bytes.assign(message.where, message.where + bytes(message));
    sent.root = rank_;
    sent.members = key(message).first;
    std::erase(sent.members, rank_);
    if (network_.chance(50))
      completed.push_back(message.op);
    else
      unacknowledged_.push_back(message);
    return MPI_SUCCESS;
  }

  int progress(std::vector<OpId>& completed, bool, bool& moved) override {
    moved = false;
    const auto is_over = [&](const Message& message, bool over) {
      if (!over || network_.chance(30)) return false;
      completed.push_back(message.op);
      return moved = true;
    };
    std::erase_if(posted_, [&](const Message& m) { return is_over(m, take(m)); });
    std::erase_if(unacknowledged_, [&](const Message& m) {
      return is_over(m, groups_.messages[key(m)].members.empty());
    });
    return MPI_SUCCESS;
  }

  bool abandon(std::vector<OpId>&) override {
    posted_.clear();
    unacknowledged_.clear();
    return false;
  }

 private:
  std::size_t bytes(const Message& message) const {
    return static_cast<std::size_t>(message.units) * unit_;
  }
  std::pair<std::vector<int>, Count> key(const Message& message) const {
    return {schedule_.groups()[message.group].ranks, message.position};
  }
  /// Whether the message is there, from whom it should be.
  bool take(const Message& message) {
    MadeUpGroups::Sent& sent = groups_.messages[key(message)];
    if (sent.root != message.peer || sent.bytes.size() != bytes(message)) return false;
    std::copy(sent.bytes.begin(), sent.bytes.end(), message.where);
    std::erase(sent.members, rank_);
    return true;
  }

  MadeUpNetwork& network_;
  MadeUpGroups& groups_;
  const Schedule& schedule_;
  int rank_;
  std::size_t unit_;
  std::vector<Message> posted_, unacknowledged_;
};

}  // namespace unisono
