// The running sum of a rank that receives contributions from others.
#pragma once
#include <deque>

#include "schedule/builder.h"

namespace unisono {

enum class Side { left, right };

/// Adds received vectors to a rank's own one without copying where that is possible: the Builder's
/// reduce() writes into its RIGHT operand, so a contribution that belongs on the right becomes the
/// new sum and the old sum's memory is free for the next message.
class Accumulator {
 public:
  /// `own` is read only unless it is `workspace`. `workspace`: memory the sum may lie in (the
  /// user's output), or a slice of length 0. `ordered`: the operands must stand in the order
  /// given by the sides; otherwise the sum stays where the first message arrived. `buffers` >= 2:
  /// how many messages may be on their way, plus one for the sum.
  Accumulator(Builder& b, Slice own, Slice workspace, bool ordered, int buffers = 2);

  /// The sum so far.
  Slice value() const { return value_; }
  /// Receives a vector and adds it at `side` of the sum. Returns the receive.
  OpId receive(int peer, Side side) { return receive(peer, side, 0, value_.length); }
  /// The same for a part; of the sum no more than that part counts from now on.
  OpId receive(int peer, Side side, Count from, Count units);
  /// Adds what already lies in this rank's memory; `term` is left as it is.
  void add_left(Slice term);

 private:
  void own_to_buffer(Count from, Count units);
  Slice take();

  Builder& b_;
  Slice value_;
  Slice workspace_;
  bool writable_;
  bool ordered_;
  int buffers_;
  int made_ = 0;
  std::deque<Slice> free_;
};

}  // namespace unisono
