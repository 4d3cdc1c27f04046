// Slices: every rank adds up one slice of the vector, of all ranks, in pairs, and sends the sum
// to the root. Two rounds of p - 1 messages, bytes 2 (p - 1) / p m at the root; T = 2 (p - 1)
// alpha + (p - 1) / p (2 beta + gamma) m: the work of the sum is shared by all ranks. Scratch: a
// vector. In one order whatever the size: the operation need not commute. Any p, any root. Source:
// data partitioning (Bayatpour et al. 2017, DPML).
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::reduce {

void slices(Builder& b) {
  const Slice sum = direct_reduce_scatter(b, Partition(b.input(), b.size()));
  if (!b.args().is_root()) {
    b.send(b.args().root, sum);
    return;
  }
  const Partition output(b.output(), b.size());
  b.copy(sum, output.block(b.rank()));
  const Rotation from_here{b.size(), b.rank()};
  for (int i = 1; i < b.size(); ++i) b.recv(from_here.rank(i), output.block(from_here.rank(i)));
}

}  // namespace unisono::reduce
