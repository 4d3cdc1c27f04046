// Simple: all receives and all sends at once, beginning with the next rank.
// One round of p - 1 messages, bytes (p - 1) b; T = (p - 1)(alpha + beta b) without contention,
// which nothing limits here: every rank may be sent to by all others together. Any p, any counts.
// Source: Faraj, Patarasuk, Yuan, A Study of Process Arrival Patterns (2008), "simple".
#include "algorithms/algorithms.h"
#include "patterns/blocks.h"

namespace unisono::alltoall {

void simple(Builder& b) {
  const Rotation from_here{b.size(), b.rank()};
  const auto input_block = staged_input(b);
  b.copy(input_block(b.rank()), b.output_block(b.rank()));
  for (int i = 1; i < b.size(); ++i) b.recv(from_here.rank(-i), b.output_block(from_here.rank(-i)));
  for (int i = 1; i < b.size(); ++i) b.send(from_here.rank(i), input_block(from_here.rank(i)));
}

}  // namespace unisono::alltoall
