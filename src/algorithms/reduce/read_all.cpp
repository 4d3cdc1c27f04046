// Read all: the root reads everyone's vector at once and adds them up in pairs.
// One round of p - 1 messages at the root, bytes (p - 1) m there; T = alpha + (p - 1)(beta + gamma)
// m. Memory for p vectors. The model of how a node's ranks reduce short vectors: each posts its
// own, and the root reads them where they are. Any p, any root. Source: textbook.
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::reduce {

void read_all(Builder& b) {
  if (!b.args().is_root()) {
    b.send(b.args().root, b.input());
    return;
  }
  b.copy(sum_of_received(b, b.input()), b.output());
}

}  // namespace unisono::reduce
