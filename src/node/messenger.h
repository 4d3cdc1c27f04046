// Messages among the ranks of a communicator that are on one node: a channel (channel.h) for every
// ordered pair. Everything goes on together: a rank that waits for room goes on receiving, and one
// that waits for a message goes on sending, so that full rings on both sides hold nobody up.
#pragma once
#include <sys/types.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "node/channel.h"
#include "node/memory.h"

namespace unisono::node {

/// One rank prepares the arena, and the others learn of it afterwards: that is the caller's
/// business.
template <class Memory>
class BasicMessenger {
 public:
  static constexpr std::size_t arena_bytes(int size, std::size_t slot_bytes) {
    return slots_begin(size) + channels(size) * Memory::kCells * round_up(slot_bytes);
  }
  static void prepare(std::byte* memory, int size) {
    new (memory) LinePair<Memory>;
    for (int rank = 0; rank < size; ++rank) new (doorbells(memory) + rank) Doorbell<Memory>;
    for (std::size_t i = 0; i < channels(size); ++i) new (rings(memory, size) + i) Channel<Memory>;
  }

  /// Precondition: the arena has arena_bytes(size, kLinePair) at least, aligned to kLinePair.
  BasicMessenger(std::span<std::byte> arena, int rank, int size, const WaitPolicy& policy = {});
  BasicMessenger(const BasicMessenger&) = delete;
  BasicMessenger& operator=(const BasicMessenger&) = delete;

  /// Before the first message: those of `from` bytes on go by their address. Only where every rank
  /// can_reach() every other; `processes` of all ranks.
  void allow_direct(std::span<const pid_t> processes, std::size_t from);

  /// To and from another rank. Starts what can start at once; the memory is the messenger's until
  /// the completion is given, perhaps before this returns. The first message of a tag goes to the
  /// first receive of it.
  void send(int to, int tag, const std::byte* data, std::size_t bytes,
            const Completion& completion) {
    start(senders_, to, {tag, data, bytes, completion}, sending_);
  }
  /// With `sum`, of a reduction that can_reduce(), the message is reduced into that, and the room
  /// is only memory for it meanwhile.
  void recv(int from, int tag, std::byte* into, std::size_t room, const Completion& completion,
            const Accumulator& sum = {}) {
    start(receivers_, from, {tag, into, room, completion, sum}, receiving_);
  }
  /// Whether every piece of a message has whole elements.
  bool can_reduce(const Reduction& reduction) const {
    return reduction.whole(slot_bytes_) == slot_bytes_;
  }

  /// Moves what can be moved. Whether anything has.
  bool progress() {
    const bool sent = drive(senders_, sending_);
    return drive(receivers_, receiving_) || sent;
  }
  /// Until something has moved, or somebody has rung. Precondition: something is under way.
  void wait();
  /// What a wait does meanwhile (WaitPolicy).
  void be_idle() const {
    if (policy_.idle != nullptr) policy_.idle(policy_.context);
  }

  /// Whether a message was longer than the room for it, since this was last asked.
  bool take_truncated() { return std::exchange(truncated_, false); }
  /// No completion is ever added to the list again, and the memory of its messages not touched: but
  /// others may still read what was to be sent by its address.
  void abandon(const std::vector<std::uint32_t>* list) {
    for (auto& sender : senders_) sender.abandon(list);
    for (auto& receiver : receivers_) receiver.abandon(list);
  }

  /// All that this rank's next steps depend on when nothing is under way: for the explorer of
  /// tests.
  std::vector<Step> state() const {
    std::vector<Step> all;
    const auto add = [&all](const auto& sides) {
      for (const auto& side : sides)
        for (const Step step : side.state()) all.push_back(step);
    };
    add(senders_);
    add(receivers_);
    return all;
  }
  /// This rank never comes back. True for the last one: the memory is free.
  bool leave() {
    const auto before = departures_->value.fetch_add(1, std::memory_order_acq_rel);
    return before + 1 == static_cast<std::uint64_t>(senders_.size());
  }

 private:
  static constexpr std::size_t round_up(std::size_t bytes) {
    return (bytes + kLinePair - 1) / kLinePair * kLinePair;
  }
  static constexpr std::size_t channels(int size) {
    return static_cast<std::size_t>(size) * static_cast<std::size_t>(size - 1);
  }
  static std::size_t slot_bytes(std::span<std::byte> arena, int size) {
    return (arena.size() - slots_begin(size)) / (channels(size) * Memory::kCells) / kLinePair *
           kLinePair;
  }
  static constexpr std::size_t slots_begin(int size) {
    return kLinePair + static_cast<std::size_t>(size) * sizeof(Doorbell<Memory>) +
           channels(size) * sizeof(Channel<Memory>);
  }
  static Doorbell<Memory>* doorbells(std::byte* memory) {
    return reinterpret_cast<Doorbell<Memory>*>(memory + kLinePair);
  }
  static Channel<Memory>* rings(std::byte* memory, int size) {
    return reinterpret_cast<Channel<Memory>*>(doorbells(memory) + size);
  }
  static ChannelPlace<Memory> place(std::span<std::byte> arena, int from, int to, int other,
                                    int size, WaitMode mode) {
    const auto index = static_cast<std::size_t>(from * (size - 1) + to - (to > from ? 1 : 0));
    const std::size_t slot = slot_bytes(arena, size);
    return {rings(arena.data(), size) + index,
            arena.data() + slots_begin(size) + index * Memory::kCells * slot, slot,
            doorbells(arena.data()) + other, mode};
  }

  template <class Side>
  void start(std::vector<Side>& sides, int rank, const typename Side::Message& message,
             std::vector<int>& busy) {
    assert(rank != rank_);
    Side& side = sides[static_cast<std::size_t>(rank)];
    const bool was_idle = side.is_idle();
    side.post(message);
    side.progress();
    if (was_idle && !side.is_idle() && std::find(busy.begin(), busy.end(), rank) == busy.end())
      busy.push_back(rank);
  }
  template <class Side>
  static bool drive(std::vector<Side>& sides, std::vector<int>& busy) {
    bool moved = false;
    for (std::size_t i = 0; i < busy.size();) {
      Side& side = sides[static_cast<std::size_t>(busy[i])];
      moved |= side.progress();
      if (!side.is_idle()) {
        ++i;
        continue;
      }
      busy[i] = busy.back();
      busy.pop_back();
    }
    return moved;
  }

  int rank_;
  WaitPolicy policy_;
  bool truncated_ = false;
  std::size_t slot_bytes_;
  LinePair<Memory>* departures_;
  Doorbell<Memory>* doorbell_;
  std::vector<Sender<Memory>> senders_;      // by rank
  std::vector<Receiver<Memory>> receivers_;  // by rank
  std::vector<int> sending_, receiving_;     // those that are not idle
};

template <class Memory>
BasicMessenger<Memory>::BasicMessenger(std::span<std::byte> arena, int rank, int size,
                                       const WaitPolicy& policy)
    : rank_(rank),
      policy_(policy),
      slot_bytes_(size == 1 ? 0 : slot_bytes(arena, size)),
      departures_(reinterpret_cast<LinePair<Memory>*>(arena.data())),
      doorbell_(doorbells(arena.data()) + rank),
      senders_(static_cast<std::size_t>(size)),
      receivers_(static_cast<std::size_t>(size)) {
  assert(arena.size() >= arena_bytes(size, kLinePair));
  for (int other = 0; other < size; ++other) {
    if (other == rank) continue;
    const auto i = static_cast<std::size_t>(other);
    senders_[i] = Sender<Memory>(place(arena, rank, other, other, size, policy.mode));
    receivers_[i] =
        Receiver<Memory>(place(arena, other, rank, other, size, policy.mode), &truncated_);
  }
}

template <class Memory>
void BasicMessenger<Memory>::allow_direct(std::span<const pid_t> processes, std::size_t from) {
  for (std::size_t i = 0; i < senders_.size(); ++i) {
    senders_[i].show_from(from);
    receivers_[i].pull_from(processes[i]);
  }
}

// A sleeper asks on all channels before its last look, and who publishes looks who has asked
// afterwards, all seq_cst: so the look finds it, or the other one rings. And the bell counts: what
// rings between the first line and the sleep ends the sleep.
template <class Memory>
void BasicMessenger<Memory>::wait() {
  if (policy_.mode != WaitMode::sleep) {
    typename Memory::Pause pause(policy_);
    while (!progress()) pause.look_again(doorbell_->rung.value, 0);
    return;
  }
  const auto heard = doorbell_->rung.value.load(std::memory_order_seq_cst);
  for (const int rank : sending_) senders_[static_cast<std::size_t>(rank)].ask();
  for (const int rank : receiving_) receivers_[static_cast<std::size_t>(rank)].ask();
  if (progress()) return;
  wait_until<Memory>(doorbell_->rung.value, heard + 1, doorbell_->sleepers.value, policy_);
}

using Messenger = BasicMessenger<SharedMemory>;

}  // namespace unisono::node
