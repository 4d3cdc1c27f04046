#include "exec/multicast_transport.h"

#include <utility>

namespace unisono {

void MulticastTransport::open(std::vector<std::shared_ptr<MulticastChannel>> channels,
                              const Schedule& schedule, const TypeFacts& unit) {
  channels_ = std::move(channels);
  unit_ = unit;
  // Every member's schedule has all messages of the group.
  messages_.assign(channels_.size(), 0);
  for (const auto& op : schedule.ops())
    if (op.is_multicast()) ++messages_[op.group()];
  first_.clear();
  for (std::size_t i = 0; i < channels_.size(); ++i)
    first_.push_back(channels_[i] != nullptr ? channels_[i]->take_numbers(messages_[i]) : 0);
}

int MulticastTransport::start(const Message& message, std::vector<OpId>& completed,
                              Started& started) {
  started.portions = 1;
  MulticastChannel& channel = *channels_[message.group];
  const int code =
      channel.start({.owner = this,
                     .op = message.op,
                     .number = first_[message.group] + static_cast<std::uint64_t>(message.position),
                     .root = message.peer,
                     .where = message.where + unit_.true_lb,
                     .bytes = static_cast<std::size_t>(message.units * unit_.size)});
  if (code != MPI_SUCCESS) return code;
  channel.progress();
  return channel.take(this, completed);
}

int MulticastTransport::progress(std::vector<OpId>& completed, bool, bool& moved) {
  for (const auto& channel : channels_) {
    if (channel == nullptr) continue;
    moved = channel->progress() || moved;
    if (const int code = channel->take(this, completed); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

bool MulticastTransport::wait() {
  if (channels_.size() != 1 || channels_[0] == nullptr) return false;
  channels_[0]->wait();
  return true;
}

bool MulticastTransport::abandon(std::vector<OpId>&) {
  for (std::size_t i = 0; i < channels_.size(); ++i)
    if (channels_[i] != nullptr) channels_[i]->abandon(this, first_[i], first_[i] + messages_[i]);
  return false;
}

}  // namespace unisono
