#include "patterns/window.h"

#include <utility>

namespace unisono {

RoundWindow::RoundWindow(Builder& b, Count width)
    : b_(b), width_(static_cast<std::size_t>(width)), before_(width_) {}

void RoundWindow::next_round() {
  std::swap(before_[round_++ % width_], now_);
  now_.clear();
}

void RoundWindow::send(int peer, Slice slice) {
  wait();
  note(b_.send(peer, slice));
}

void RoundWindow::recv(int peer, Slice slice) {
  wait();
  note(b_.recv(peer, slice));
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
