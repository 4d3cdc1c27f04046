// Messages from one rank of a node to another: a ring of cells with one writer and one reader.
//
// The sender writes cell n mod kCells and publishes it by n + 1, as in flags.h; the receiver says
// how many cells it is through with (`taken`), and a cell is written again when it is. A message
// goes one of three ways, by its length:
//
//   short    inside the cell, so that the line that says it is there brings it: one line's way
//   middle   in pieces through the cells' slots, the receiver copying out while the sender copies
//            in
//   long     as an address, from which the receiver copies (single_copy.h); `taken` is its
//            completion. If it cannot, it says so beside `taken`, and the message comes again in
//            pieces, as all long ones do from then on
//
// Messages come in the order in which they were sent, and the receiver may want them in another:
// each has a tag. What nobody has asked for stays in the ring, unless something behind it is wanted
// now: then it is set aside, in memory of the receiver's own.
//
// A sleeper says on each channel which cell, or which room, is to wake it, and looks again; who
// publishes or takes that very cell rings its bell. So a message that its receiver does not wait
// for wakes nobody, and no word is ever reset. Where nobody sleeps nobody asks.
#pragma once
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "node/fifo.h"
#include "node/flags.h"
#include "node/reduction.h"

namespace unisono::node {

/// Where to write that a message is complete: `number` is added to the list.
struct Completion {
  std::vector<std::uint32_t>* list = nullptr;
  std::uint32_t number = 0;
  void give() const {
    if (list != nullptr) list->push_back(number);
  }
};

/// What becomes of a message that is reduced as it comes, which saves to write it and to read it
/// again: sum = left (+) message, for an operation that commutes.
struct Accumulator {
  const Reduction* reduction = nullptr;  ///< null: nothing of the kind
  const std::byte* left = nullptr;       ///< perhaps the sum
  std::byte* sum = nullptr;

  /// `from`: bytes of the message from `at` on, perhaps where the sum of them will be. What would
  /// be in the sum's place without this is the left operand, always: the smaller of two zeros, or
  /// of two that are no numbers, must be the same one whether it is combined here or later.
  void add(std::size_t at, const std::byte* from, std::size_t bytes) const {
    const bool is_sum = left == sum;
    const auto& [combine, context, element_bytes] = *reduction;
    combine(context, is_sum ? left + at : from, is_sum ? from : left + at, sum + at,
            reduction->elements(bytes));
  }
};

/// Of a rank: counts what it may be waiting for.
template <class Memory>
struct Doorbell {
  LinePair<Memory> rung;      ///< written by everybody
  LinePair<Memory> sleepers;  ///< written by the rank

  void ring() {
    rung.value.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers.value.load(std::memory_order_seq_cst) != 0) Memory::wake(rung.value);
  }
};

template <class Memory>
struct Channel {
  LinePair<Memory> cells[Memory::kCells];  ///< written by the sender
  LinePair<Memory> wanted_room;            ///< by the sender: rings when so many are taken
  LinePair<Memory> taken;                  ///< by the receiver
  LinePair<Memory> wanted_cell;            ///< by the receiver: rings when so many are published
};

/// What the first cell of a message begins with. The address of a long one, or a short one itself,
/// follows.
struct Header {
  std::uint64_t bytes = 0;
  std::int32_t tag = 0;
  std::uint16_t direct = 0;
  std::uint16_t again = 0;  ///< what could not be copied directly: the oldest such
};
inline constexpr std::size_t kShort = kInline - sizeof(Header);

/// One side's view of a channel.
template <class Memory>
struct ChannelPlace {
  Channel<Memory>* channel = nullptr;
  std::byte* slots = nullptr;
  std::size_t slot_bytes = 0;
  Doorbell<Memory>* other = nullptr;  ///< of the rank on the other side
  WaitMode mode = WaitMode::yield;

  LinePair<Memory>& cell(Step step) const { return channel->cells[step % Memory::kCells]; }
  std::byte* slot(Step step) const { return slots + step % Memory::kCells * slot_bytes; }
  /// Beside `taken`: whether the address in the cell led nowhere. The sender looks when it sees
  /// that the cell is taken, before it writes another.
  std::byte& refused(Step step) const { return channel->taken.payload[step % Memory::kCells]; }
  /// `word` counts up to `value`, and the other side learns of it if it has asked for that.
  void count(typename Memory::Word& word, Step value, typename Memory::Word& wanted) const {
    if (mode != WaitMode::sleep) return word.store(value, std::memory_order_release);
    word.exchange(value, std::memory_order_seq_cst);
    if (wanted.load(std::memory_order_seq_cst) == value) other->ring();
  }
};

/// Asks once for each value.
template <class Memory>
class WakeRequest {
 public:
  void tell(typename Memory::Word& word, Step value) {
    if (value == std::exchange(told_, value)) return;
    word.exchange(value, std::memory_order_seq_cst);
  }
  Step told() const { return told_; }

 private:
  Step told_ = 0;
};

/// In WaitMode::sleep a side that has many cells still to come is woken when half of them have.
template <class Memory>
constexpr Step kHalf = std::max<Step>(1, Memory::kCells / 2);

template <class Memory>
class Sender {
 public:
  struct Message {
    int tag = 0;
    const std::byte* data = nullptr;
    std::size_t bytes = 0;
    Completion completion;
  };

  Sender() = default;
  explicit Sender(const ChannelPlace<Memory>& place) : place_(place) {}

  /// Messages of so many bytes on are long. Standard: none.
  void show_from(std::size_t bytes) { direct_from_ = bytes; }

  void post(const Message& message) { waiting_.push(message); }
  bool is_idle() const { return has_nothing_to_write() && shown_.empty(); }

  /// Whether anything has moved.
  bool progress() {
    bool moved = false;
    for (; !has_nothing_to_write() && has_room(); moved = true) write_cell();
    if (!shown_.empty()) moved |= look();
    return moved;
  }

  /// Not idle, and progress() has moved nothing.
  void ask() { wake_request_.tell(place_.channel->wanted_room.value, wanted()); }
  /// All that its next steps depend on when it is idle.
  std::array<Step, 3> state() const { return {next_, taken_, wake_request_.told()}; }

  /// Those with completions in `list` are never to be read again. One that is half on its way goes
  /// on with whatever is in the slots.
  void abandon(const std::vector<std::uint32_t>* list) {
    Fifo<Message> kept;
    for (Message& message : waiting_) {
      const bool under_way = begun_ && !repeats_ && &message == &waiting_.front();
      if (message.completion.list != list) kept.push(message);
      if (message.completion.list == list && under_way)
        kept.push({message.tag, nullptr, message.bytes, {}});
    }
    waiting_ = std::move(kept);
    for (Message& message : again_)
      if (message.completion.list == list) message = {message.tag, nullptr, message.bytes, {}};
    for (Shown& shown : shown_) {
      Message& message = shown.message;
      if (message.completion.list == list) message = {message.tag, nullptr, message.bytes, {}};
    }
  }

 private:
  /// A long message of which the receiver has the address.
  struct Shown {
    Step cell = 0;
    Message message;
  };

  bool has_nothing_to_write() const { return waiting_.empty() && again_.empty(); }

  /// What has been taken. Whether that completes a message, or brings one back.
  bool look() {
    taken_ = place_.channel->taken.value.load(std::memory_order_seq_cst);
    bool moved = false;
    for (; !shown_.empty() && shown_.front().cell < taken_; moved = true) {
      const auto [cell, message] = shown_.front();
      shown_.pop();
      if (place_.refused(cell) == std::byte{0}) {
        message.completion.give();
        continue;
      }
      again_.push(message);
      direct_from_ = std::numeric_limits<std::size_t>::max();
    }
    return moved;
  }
  bool has_room() {
    if (next_ - taken_ == Memory::kCells) look();
    return next_ - taken_ < Memory::kCells;
  }

  Step wanted() const {
    // A receiver that takes some of a message's cells takes all.
    const bool only_this = begun_ && sent_ >= Memory::kCells * place_.slot_bytes;
    const Step room = next_ - Memory::kCells + (only_this ? kHalf<Memory> : 1);
    if (shown_.empty()) return room;
    const Step completion = shown_.front().cell + 1;
    return has_nothing_to_write() ? completion : std::min(room, completion);
  }

  void publish() {
    ++next_;
    place_.count(place_.cell(next_ - 1).value, next_, place_.channel->wanted_cell.value);
  }

  void write_cell() {
    if (!begun_) repeats_ = !again_.empty();
    Fifo<Message>& queue = repeats_ ? again_ : waiting_;
    const Message message = queue.front();
    if (!begun_) {
      std::byte* payload = place_.cell(next_).payload;
      const bool direct = !repeats_ && message.bytes >= direct_from_;
      const Header header{message.bytes, message.tag, static_cast<std::uint16_t>(direct),
                          static_cast<std::uint16_t>(repeats_)};
      std::memcpy(payload, &header, sizeof header);
      if (direct || message.bytes <= kShort) return write_at_once(queue, direct);
      begun_ = true;
      sent_ = 0;
    }
    const std::size_t piece = std::min(place_.slot_bytes, message.bytes - sent_);
    if (message.data != nullptr) Memory::copy(place_.slot(next_), message.data + sent_, piece);
    sent_ += piece;
    publish();
    if (sent_ < message.bytes) return;
    begun_ = false;
    queue.pop();
    message.completion.give();
  }

  void write_at_once(Fifo<Message>& queue, bool direct) {
    const Message message = queue.front();
    std::byte* behind = place_.cell(next_).payload + sizeof(Header);
    queue.pop();
    if (direct) {
      std::memcpy(behind, &message.data, sizeof message.data);
      shown_.push({next_, message});
      return publish();
    }
    if (message.data != nullptr) Memory::copy(behind, message.data, message.bytes);
    publish();
    message.completion.give();
  }

  ChannelPlace<Memory> place_;
  std::size_t direct_from_ = std::numeric_limits<std::size_t>::max();
  Step next_ = 0;                  // cell
  Step taken_ = 0;                 // as last seen
  Fifo<Message> waiting_, again_;  // these first
  bool begun_ = false;             // the first of them
  bool repeats_ = false;           // which is one of again_
  std::size_t sent_ = 0;           // of it
  Fifo<Shown> shown_;
  WakeRequest<Memory> wake_request_;
};

template <class Memory>
class Receiver {
 public:
  struct Message {
    int tag = 0;
    std::byte* into = nullptr;  ///< with a sum: memory that is free meanwhile, or the sum's
    std::size_t room = 0;
    Completion completion;
    Accumulator sum;
    std::size_t summed = 0;  ///< so many bytes, before a copy failed
  };

  Receiver() = default;
  /// *truncated becomes true when a message is longer than the room for it: the rest of it is lost.
  Receiver(const ChannelPlace<Memory>& place, bool* truncated)
      : place_(place), truncated_(truncated) {}

  /// Of the rank that sends.
  void pull_from(pid_t process) { process_ = process; }

  void post(const Message& message) {
    posted_.push(message);
    if (!aside_.empty()) match(message.tag);
  }
  bool is_idle() const { return posted_.empty() && !under_way_ && owed_.empty(); }

  bool progress() {
    bool moved = false;
    for (; !is_idle() && is_published(); moved = true) take_cell();
    return moved;
  }

  void ask() {
    const std::size_t left =
        under_way_ ? (bytes_ - at_ + place_.slot_bytes - 1) / place_.slot_bytes : 1;
    wake_request_.tell(place_.channel->wanted_cell.value,
                       next_ + std::min<Step>(left, kHalf<Memory>));
  }

  std::array<Step, 3> state() const { return {next_, aside_.size(), wake_request_.told()}; }

  void abandon(const std::vector<std::uint32_t>* list) {
    Fifo<Message> kept;
    for (const Message& message : posted_)
      if (message.completion.list != list) kept.push(message);
    posted_ = std::move(kept);
    for (Owed& owed : owed_)
      if (owed.message.completion.list == list) owed.message = {};
    if (current_.completion.list == list) current_ = {};
  }

 private:
  /// In the order in which they came, or will have come.
  struct Aside {
    Step cell = 0;  ///< its first
    int tag = 0;
    std::vector<std::byte> bytes;
    bool complete = false;
  };
  /// What could not be copied directly and is to come again.
  struct Owed {
    Step cell = 0;
    Message message;
    bool aside = false;
  };

  static auto has_tag(int tag) {
    return [tag](const auto& message) { return message.tag == tag; };
  }

  bool is_published() {
    return place_.cell(next_).value.load(std::memory_order_seq_cst) == next_ + 1;
  }

  void take_cell() {
    const std::byte* payload = place_.cell(next_).payload;
    Header header;
    if (!under_way_) {
      std::memcpy(&header, payload, sizeof header);
      begin(header);
    }
    bool refused = false;
    if (header.direct != 0)
      refused = !pull(payload + sizeof header);
    else if (bytes_ <= kShort)
      store(payload + sizeof header, bytes_);
    else
      store(place_.slot(next_), std::min(place_.slot_bytes, bytes_ - at_));
    if (header.direct != 0) place_.refused(next_) = std::byte{refused};
    ++next_;
    place_.count(place_.channel->taken.value, next_, place_.channel->wanted_room.value);
    if (refused) {
      owed_.push({first_cell_, std::exchange(current_, {}), std::exchange(is_aside_, false)});
      under_way_ = false;
    } else if (at_ == bytes_) {
      finish();
    }
  }

  /// Under way last: without memory the message begins again in the next progress().
  void begin(const Header& header) {
    bytes_ = header.bytes;
    at_ = 0;
    if (header.again != 0) {
      first_cell_ = owed_.front().cell;
      current_ = owed_.front().message;
      is_aside_ = owed_.front().aside;
      owed_.pop();
      under_way_ = true;
      return;
    }
    first_cell_ = next_;
    const auto posted = std::find_if(posted_.begin(), posted_.end(), has_tag(header.tag));
    // One of the same tag that is set aside, and still owed, comes before.
    is_aside_ =
        posted == posted_.end() || std::any_of(aside_.begin(), aside_.end(), has_tag(header.tag));
    if (is_aside_) {
      aside_.push({first_cell_, header.tag, std::vector<std::byte>(bytes_)});
      current_ = {header.tag, (aside_.end() - 1)->bytes.data(), bytes_, {}, {}};
    } else {
      current_ = *posted;
      posted_.erase(posted);
      note_length(bytes_, current_.room);
    }
    under_way_ = true;
  }

  /// The bytes of `from` that there is room for.
  void store(const std::byte* from, std::size_t bytes) {
    if (at_ < current_.room) take(current_, at_, from, std::min(bytes, current_.room - at_));
    at_ += bytes;
  }
  static void take(const Message& message, std::size_t at, const std::byte* from,
                   std::size_t bytes) {
    if (message.sum.reduction == nullptr) return Memory::copy(message.into + at, from, bytes);
    if (at >= message.summed) message.sum.add(at, from, bytes);
  }
  bool pull(const std::byte* address) {
    const std::byte* data = nullptr;
    std::memcpy(&data, address, sizeof data);
    at_ = bytes_;
    const std::size_t bytes = std::min(bytes_, current_.room);
    const bool reduces = current_.sum.reduction != nullptr;
    if (!reduces) return Memory::pull(process_, current_.into, data, bytes);
    // In pieces that stay in this core's cache, of whole ones of those in which it comes again if
    // one fails.
    constexpr std::size_t kPiece = 32 << 10;
    const std::size_t step =
        std::max<std::size_t>(1, kPiece / place_.slot_bytes) * place_.slot_bytes;
    for (std::size_t& at = current_.summed; at < bytes; at += step) {
      const std::size_t piece = std::min(step, bytes - at);
      std::byte* into = current_.into + (current_.into == current_.sum.sum ? at : 0);
      if (!Memory::pull(process_, into, data + at, piece)) return false;
      current_.sum.add(at, into, piece);
    }
    return true;
  }

  void note_length(std::size_t bytes, std::size_t room) {
    if (bytes > room) *truncated_ = true;
  }

  void finish() {
    under_way_ = false;
    const Message message = std::exchange(current_, {});
    if (!std::exchange(is_aside_, false)) return message.completion.give();
    const auto aside = std::find_if(aside_.begin(), aside_.end(),
                                    [this](const Aside& one) { return one.cell == first_cell_; });
    aside->complete = true;
    match(message.tag);
  }

  /// Whoever has asked for what is set aside gets it, in the order of both.
  void match(int tag) {
    for (;;) {
      const auto aside = std::find_if(aside_.begin(), aside_.end(), has_tag(tag));
      const auto posted = std::find_if(posted_.begin(), posted_.end(), has_tag(tag));
      if (aside == aside_.end() || !aside->complete || posted == posted_.end()) return;
      const Message wanted = *posted;
      posted_.erase(posted);
      hand_over(*aside, wanted);
      aside_.erase(aside);
    }
  }

  void hand_over(const Aside& aside, const Message& message) {
    note_length(aside.bytes.size(), message.room);
    take(message, 0, aside.bytes.data(), std::min(aside.bytes.size(), message.room));
    message.completion.give();
  }

  ChannelPlace<Memory> place_;
  pid_t process_ = 0;
  bool* truncated_ = nullptr;
  Step next_ = 0;  // cell
  Fifo<Message> posted_;
  bool under_way_ = false, is_aside_ = false;
  Message current_;  // under way
  std::size_t bytes_ = 0, at_ = 0;
  Step first_cell_ = 0;  // of it
  Fifo<Aside> aside_;    // one of them may be under way, and some of them owed
  Fifo<Owed> owed_;
  WakeRequest<Memory> wake_request_;
};

}  // namespace unisono::node
