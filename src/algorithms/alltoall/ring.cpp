// Ring: in phase i a rank sends to rank + i and receives from rank - i; it begins phase i + 1 when
// it is through with phase i.
// Rounds p - 1, bytes (p - 1) b; T = (p - 1)(alpha + beta b). Every phase is a permutation; nothing
// but waiting for its partners keeps a rank in step. Any p.
// Source: Faraj, Patarasuk, Yuan, A Study of Process Arrival Patterns (2008), "ring".
#include "algorithms/algorithms.h"
#include "patterns/blocks.h"

namespace unisono::alltoall {

void ring(Builder& b) {
  const Rotation from_here{b.size(), b.rank()};
  const auto input_block = staged_input(b);
  b.copy(input_block(b.rank()), b.output_block(b.rank()));
  for (int i = 1; i < b.size(); ++i) {
    const int to = from_here.rank(i);
    const int from = from_here.rank(-i);
    b.end_round();
    b.recv(from, b.output_block(from));
    b.send(to, input_block(to));
  }
}

}  // namespace unisono::alltoall
