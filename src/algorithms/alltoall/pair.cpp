// Pair: in phase i the ranks r and r xor i exchange their blocks; a rank begins phase i + 1 when it
// is through with phase i.
// Rounds p - 1, bytes (p - 1) b; T = (p - 1)(alpha + beta b). Every phase is a perfect matching,
// and one connection carries both ways. p a power of two.
// Source: Faraj, Patarasuk, Yuan, A Study of Process Arrival Patterns (2008), "pair".
#include "algorithms/algorithms.h"
#include "patterns/blocks.h"

namespace unisono::alltoall {

void pair(Builder& b) {
  const auto input_block = staged_input(b);
  b.copy(input_block(b.rank()), b.output_block(b.rank()));
  for (int i = 1; i < b.size(); ++i) {
    const int peer = b.rank() ^ i;
    b.end_round();
    b.recv(peer, b.output_block(peer));
    b.send(peer, input_block(peer));
  }
}

}  // namespace unisono::alltoall
