// Bounds on what is under way.
#pragma once
#include <deque>
#include <utility>
#include <vector>

#include "schedule/builder.h"

namespace unisono {

/// Rounds that overlap, but not without limit: the messages of a round wait for those of the round
/// `width` before. Keeps the order of rounds that a schedule without conflicts was made for.
class RoundWindow {
 public:
  /// With credits a receiver tells that a message has come, and a round is over when its sender
  /// knows: so no more than the messages of `width` rounds are under way, and none when the call
  /// is over.
  enum class Credits : bool { no, yes };

  RoundWindow(Builder& b, Count width, Credits credits = Credits::no);

  void next_round();
  void send(int peer, Slice slice);
  void recv(int peer, Slice slice);
  /// An op that belongs to the round and is ordered by other means.
  void note(OpId id);

 private:
  void wait();
  void give_credits();

  Builder& b_;
  std::size_t width_;
  Credits credits_;
  std::size_t round_ = 0;
  std::vector<std::vector<OpId>> before_;  // the ops of the last `width` rounds; slot round % width
  std::vector<OpId> now_;
  std::vector<int> sent_to_;  // in this round
  std::vector<std::pair<int, OpId>> received_;
};

/// At most so many units on their way, of messages of any length: the next ones wait for those
/// before them.
class UnitWindow {
 public:
  UnitWindow(Builder& b, Count units) : b_(b), limit_(units) {}
  /// The next op waits until so many more units fit in; they are on their way until() an op is
  /// complete.
  void make_room_for(Count units);
  void until(OpId op);

 private:
  struct Message {
    OpId until;
    Count units;
  };

  Builder& b_;
  Count limit_;
  Count next_ = 0;       // units of the message that make_room_for() was for
  Count under_way_ = 0;  // of `messages_`
  std::deque<Message> messages_;
  OpId room_ = kNoOp;  // complete when there was room for all so far
};

/// `count` scratch buffers of one length, used in turn. Not pieces of one buffer: elements of a
/// datatype may interleave, and are then known not to overlap within one of the user's vectors
/// only.
class Slots {
 public:
  Slots(Builder& b, Count length, Count count) : b_(b), length_(length), count_(count) {}
  Slice next(Count length) {
    if (std::ssize(slots_) < count_)
      return slots_.emplace_back(b_.scratch(length_)).part(0, length);
    return slots_[static_cast<std::size_t>(next_++ % count_)].part(0, length);
  }

 private:
  Builder& b_;
  Count length_, count_;
  std::vector<Slice> slots_;
  Count next_ = 0;
};

}  // namespace unisono
