// Read all: the root reads everyone's vector at once and adds them up in rank order.
// One round of p - 1 messages at the root, bytes (p - 1) m there; T = alpha + (p - 1)(beta + gamma)
// m. Memory for p vectors. The model of how a node's ranks reduce short vectors: each posts its
// own, and the root reads them where they are. Any p, any root. Source: textbook.
#include "algorithms/algorithms.h"
#include "patterns/accumulator.h"

namespace unisono::reduce {

void read_all(Builder& b) {
  const Args& args = b.args();
  if (!args.is_root()) {
    b.send(args.root, b.input());
    return;
  }
  Accumulator sum(b, b.input(), b.output(), !args.commutative, args.size);
  for (int i = args.root + 1; i < args.size; ++i) sum.receive(i, Side::right);
  for (int i = args.root - 1; i >= 0; --i) sum.receive(i, Side::left);
  b.copy(sum.value(), b.output());
}

}  // namespace unisono::reduce
