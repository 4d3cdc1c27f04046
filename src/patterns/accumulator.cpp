#include "patterns/accumulator.h"

namespace unisono {

Accumulator::Accumulator(Builder& b, Slice own, Slice workspace, bool ordered, int buffers)
    : b_(b),
      value_(own),
      workspace_(workspace),
      writable_(own == workspace),
      ordered_(ordered),
      buffers_(buffers) {}

OpId Accumulator::receive(int peer, Side side, Count from, Count units) {
  if (units == 0) return kNoOp;
  const Slice received = take();
  const Slice part = received.part(from, units);
  const OpId id = b_.recv(peer, part);
  const bool stays = writable_ && (side == Side::left || !ordered_);
  if (stays || (side == Side::left && ordered_)) {
    own_to_buffer(from, units);
    b_.reduce(part, value_.part(from, units));
    free_.push_back(received);
  } else {
    b_.reduce(value_.part(from, units), part);
    if (writable_) free_.push_back(value_);
    value_ = received;
    writable_ = true;
  }
  return id;
}

void Accumulator::add_left(Slice term) {
  if (term.length == 0) return;
  own_to_buffer(0, term.length);
  b_.reduce(term, value_);
}

void Accumulator::own_to_buffer(Count from, Count units) {
  if (writable_) return;
  const Slice copy = take();
  b_.copy(value_.part(from, units), copy.part(from, units));
  value_ = copy;
  writable_ = true;
}

// The workspace first, then new scratch up to the limit, then what has been free for longest.
Slice Accumulator::take() {
  if (made_ < buffers_) {
    const bool use_workspace = made_++ == 0 && !writable_ && workspace_.length == value_.length;
    return use_workspace ? workspace_ : b_.scratch(value_.length);
  }
  const Slice slice = free_.front();
  free_.pop_front();
  return slice;
}

}  // namespace unisono
