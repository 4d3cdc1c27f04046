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

}  // namespace unisono
