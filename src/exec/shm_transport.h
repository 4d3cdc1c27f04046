// Messages through the memory of the node, for which elements lie without gaps.
#pragma once
#include <atomic>
#include <mutex>
#include <vector>

#include "exec/transport.h"
#include "node/messenger.h"

namespace unisono {

/// What a message of a call is to a messenger, which several executions may share.
struct ShmChannel {
  node::Messenger* messenger = nullptr;
  int first_tag = 0;
  Count unit_bytes = 1;
  Count true_lb = 0;  ///< of a unit: where its first byte is
  /// Where others may use the messenger: its mutex, and for how many requests they may do so at any
  /// time, in any thread. Null: none do.
  std::mutex* mutex = nullptr;
  const std::atomic<int>* movers = nullptr;
};

class ShmTransport final : public Transport {
 public:
  /// For the messages of the next execution.
  void open(const ShmChannel& channel) { channel_ = channel; }

  int start(const Message& message, std::vector<OpId>& completed, Started& started) override;
  int progress(std::vector<OpId>& completed, bool only_looks, bool& moved) override;
  bool wait() override;
  void look_around() override;
  bool abandon(std::vector<OpId>& completed) override;

 private:
  bool has_movers() const { return channel_.movers != nullptr && *channel_.movers > 0; }
  std::unique_lock<std::mutex> guard() const;
  void take_arrived(std::vector<OpId>& completed);

  ShmChannel channel_;
  std::vector<OpId> arrived_;  // another execution's progress may add to it, under the mutex
  unsigned looks_ = 0;
};

}  // namespace unisono
