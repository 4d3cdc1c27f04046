// Messages to groups of ranks through the network's multicast, for which elements lie without gaps.
#pragma once
#include <memory>
#include <vector>

#include "exec/multicast_channel.h"
#include "exec/transport.h"

namespace unisono {

class MulticastTransport final : public Transport {
 public:
  /// For the messages of the next execution: `channels[i]` is that of group i of its schedule,
  /// whose numbers are taken now. Units of so many bytes.
  void open(std::vector<std::shared_ptr<MulticastChannel>> channels, const Schedule& schedule,
            const TypeFacts& unit);
  /// After it: their groups may end.
  void close() { channels_.clear(); }

  int start(const Message& message, std::vector<OpId>& completed, Started& started) override;
  int progress(std::vector<OpId>& completed, bool only_looks, bool& moved) override;
  bool wait() override;
  bool abandon(std::vector<OpId>& completed) override;

 private:
  std::vector<std::shared_ptr<MulticastChannel>> channels_;
  std::vector<std::uint64_t> first_;  // number of each channel
  std::vector<std::uint32_t> messages_;
  TypeFacts unit_;
};

}  // namespace unisono
