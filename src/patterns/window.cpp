#include "patterns/window.h"

#include <utility>

namespace unisono {

RoundWindow::RoundWindow(Builder& b, Count width, Credits credits)
    : b_(b), width_(static_cast<std::size_t>(width)), credits_(credits), before_(width_) {}

void RoundWindow::next_round() {
  if (credits_ == Credits::yes) give_credits();
  received_.clear();
  sent_to_.clear();
  std::swap(before_[round_++ % width_], now_);
  now_.clear();
}

void RoundWindow::send(int peer, Slice slice) {
  wait();
  note(b_.send(peer, slice));
  if (slice.length > 0) sent_to_.push_back(peer);
}

void RoundWindow::recv(int peer, Slice slice) {
  wait();
  const OpId received = b_.recv(peer, slice);
  note(received);
  if (slice.length > 0) received_.emplace_back(peer, received);
}

// After what the round sends: two ranks may send to each other in a round, and count alike.
void RoundWindow::give_credits() {
  for (const auto& [peer, received] : received_) {
    b_.after(received);
    note(b_.send_token(peer));
  }
  for (const int peer : sent_to_) note(b_.recv_token(peer));
}

void RoundWindow::note(OpId id) {
  if (id != kNoOp) now_.push_back(id);
}

void RoundWindow::wait() {
  for (const OpId id : before_[round_ % width_]) b_.after(id);
}

void UnitWindow::make_room_for(Count units) {
  const bool is_full = !messages_.empty() && under_way_ + units > limit_;
  while (!messages_.empty() && under_way_ + units > limit_) {
    b_.after(messages_.front().until);
    under_way_ -= messages_.front().units;
    messages_.pop_front();
  }
  if (is_full) {
    b_.after(room_);
    room_ = b_.join();
  }
  b_.after(room_);
  next_ = units;
}

void UnitWindow::until(OpId op) {
  messages_.push_back({op, next_});
  under_way_ += next_;
}

}  // namespace unisono
