// Read all, for scan and exscan: every rank reads the vectors of those before it at once and adds
// them up in rank order. One round of p - 1 messages at the first rank and the last, bytes (p - 1)
// m there; T = alpha + (p - 1)(beta + gamma) m. Memory for r vectors on rank r. The model of how a
// node's ranks scan short vectors: each posts its own, and nobody waits for those behind it. Any p,
// rank order kept. Source: textbook.
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::scan {

void read_all(Builder& b) {
  const int rank = b.rank();
  for (int other = rank + 1; other < b.size(); ++other) b.send(other, b.input());
  const int ranks = rank + (b.args().collective == Collective::exscan ? 0 : 1);
  if (ranks > 0) b.copy(sum_of_received_from_left(b, b.input(), ranks), b.output());
}

}  // namespace unisono::scan
