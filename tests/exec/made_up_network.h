// A transport for tests: the ranks are executions of one process, moved in any order, and messages
// between them are delayed, reordered between channels and tags, taken at once or only with the
// receiver, reduced as they come, or fail.
#pragma once
#include <algorithm>
#include <cstring>
#include <list>
#include <new>
#include <random>
#include <vector>

#include "exec/transport.h"
#include "node/channel.h"

namespace unisono {

class MadeUpNetwork {
 public:
  enum class Order { as_sent, shuffled };
  MadeUpNetwork(Order order, unsigned seed) : order_(order), random_(seed) {}

  /// The start of the so-many-th message from now on fails: with an error code, or for want of
  /// memory.
  void fail_in(int starts, bool no_memory) {
    starts_left_ = starts;
    no_memory_ = no_memory;
  }
  bool has_failed() const { return starts_left_ == 0; }
  /// So many messages were reduced as they came.
  int reduced() const { return reduced_; }
  bool chance(unsigned percent) { return random_() % 100 < percent; }
  unsigned pick(std::size_t n) { return static_cast<unsigned>(random_() % n); }

 private:
  friend class MadeUpTransport;
  using Completed = std::vector<OpId>;

  struct Sent {
    int from, to;
    Message message;
    std::size_t size;
    std::vector<std::byte> bytes;  // copied once the sender no longer waits
    Completed* completed;          // null: the sender knows already, or is gone
    int delay;                     // times that the receiver looks in vain

    const std::byte* data() const { return completed == nullptr ? bytes.data() : message.where; }
    void take_off() {
      bytes.assign(message.where, message.where + size);
      completed = nullptr;
    }
  };
  struct Posted {
    int from, to;
    Message message;
    std::size_t room;
    Completed* completed;
    bool reduces;
  };

  static bool fits(const Posted& posted, const Sent& sent) {
    return posted.from == sent.from && posted.to == sent.to &&
           posted.message.position % kChannelDepth == sent.message.position % kChannelDepth;
  }

  void count_start() {
    if (starts_left_ > 0 && --starts_left_ == 0 && no_memory_) throw std::bad_alloc();
  }

  /// Delivers what rank `to` can have by now; the earlier of two with the same tag first.
  bool deliver(int to) {
    bool moved = false;
    for (auto sent = sent_.begin(); sent != sent_.end();) {
      const auto posted = std::find_if(posted_.begin(), posted_.end(), [&](const Posted& p) {
        return p.to == to && fits(p, *sent);
      });
      const bool overtakes = std::any_of(sent_.begin(), sent, [&](const Sent& earlier) {
        return earlier.from == sent->from && earlier.to == sent->to &&
               earlier.message.position % kChannelDepth == sent->message.position % kChannelDepth;
      });
      if (posted == posted_.end() || overtakes || sent->delay-- > 0) {
        ++sent;
        continue;
      }
      hand_over(*sent, *posted);
      posted->completed->push_back(posted->message.op);
      if (sent->completed != nullptr) sent->completed->push_back(sent->message.op);
      posted_.erase(posted);
      sent = sent_.erase(sent);
      moved = true;
    }
    return moved;
  }

  void hand_over(const Sent& sent, const Posted& posted) {
    const std::size_t bytes = std::min(posted.room, sent.size);
    const Message& message = posted.message;
    if (!posted.reduces) {
      std::copy_n(sent.data(), bytes, message.where);
      return;
    }
    const node::Reduction& reduction = *message.reduction;
    node::Accumulator{&reduction, message.left, message.sum}.add(0, sent.data(), bytes);
    if (message.where != message.sum)
      std::fill_n(message.where, bytes, std::byte{0x5a});  // which nobody may read
    ++reduced_;
  }

  Order order_;
  int reduced_ = 0;
  std::mt19937 random_;
  int starts_left_ = -1;
  bool no_memory_ = false;
  std::list<Sent> sent_;
  std::list<Posted> posted_;
};

/// Of one rank.
class MadeUpTransport final : public Transport {
 public:
  MadeUpTransport(MadeUpNetwork& network, int rank, std::size_t unit_bytes)
      : network_(network), rank_(rank), unit_bytes_(unit_bytes) {}

  int start(const Message& message, std::vector<OpId>& completed, Started& started) override {
    network_.count_start();
    if (network_.has_failed()) return MPI_ERR_OTHER;
    started.portions = 1;
    const std::size_t bytes = static_cast<std::size_t>(message.units) *
                              (message.slots ? sizeof(std::int32_t) : unit_bytes_);
    if (message.kind == OpKind::recv) {
      started.reduces =
          message.reduction != nullptr && network_.order_ == MadeUpNetwork::Order::shuffled;
      network_.posted_.push_back(
          {message.peer, rank_, message, bytes, &completed, started.reduces});
      return MPI_SUCCESS;
    }
    const bool shuffled = network_.order_ == MadeUpNetwork::Order::shuffled;
    const int delay = shuffled ? static_cast<int>(network_.pick(9)) : 0;
    network_.sent_.push_back({rank_, message.peer, message, bytes, {}, &completed, delay});
    started.may_be_followed = shuffled && network_.chance(50);
    if (shuffled && network_.chance(50)) {
      network_.sent_.back().take_off();
      completed.push_back(message.op);
    }
    return MPI_SUCCESS;
  }
  int progress(std::vector<OpId>&, bool, bool& moved) override {
    moved = network_.deliver(rank_);
    return MPI_SUCCESS;
  }
  bool abandon(std::vector<OpId>& completed) override {
    std::erase_if(network_.posted_, [&](const auto& p) { return p.completed == &completed; });
    for (auto& sent : network_.sent_)
      if (sent.completed == &completed) sent.take_off();
    return false;
  }

 private:
  MadeUpNetwork& network_;
  int rank_;
  std::size_t unit_bytes_;
};

}  // namespace unisono
