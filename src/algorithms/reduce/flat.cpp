// Flat: the root receives everyone's vector and adds them up in rank order.
// Rounds 1 (p - 1 messages at the root), bytes (p - 1) m at the root; T = (p - 1)(alpha + beta m +
// gamma m). The root takes neighbours outwards from its own rank, ranks above it first, so that the
// sum is always one of adjacent ranks; memory for `window` messages. Non-commutative too. Any root.
// Source: textbook.
#include "algorithms/algorithms.h"
#include "patterns/accumulator.h"

namespace unisono::reduce {

void flat(Builder& b) {
  const Args& args = b.args();
  if (!args.is_root()) {
    b.send(args.root, b.input());
    return;
  }
  Accumulator sum(b, b.input(), b.output(), !args.commutative,
                  1 + static_cast<int>(args.params.window));
  for (int i = args.root + 1; i < args.size; ++i) sum.receive(i, Side::right);
  for (int i = args.root - 1; i >= 0; --i) sum.receive(i, Side::left);
  b.copy(sum.value(), b.output());
}

}  // namespace unisono::reduce
