// Recursive doubling: in round k ranks at distance 2^k exchange all that they have. Where p is not
// a power of two, some ranks leave the work to their left neighbours (Fold).
// Rounds log2 p, else floor(log2 p) + 2; bytes (p - 1) b, else about 2 p b; T = q alpha + (p - 1)
// beta b for a power of two. Exchanges are symmetric: one connection a round. Any p.
// Source: Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations (2005).
#include "algorithms/algorithms.h"
#include "patterns/blocks.h"
#include "patterns/fold.h"

namespace unisono::allgather {

void recursive_doubling(Builder& b) {
  const int rank = b.rank();
  const Fold fold(b.size());
  GatheredOutput output(b, Rotation{b.size()});
  const int self = fold.position(rank);
  if (self < 0) {
    b.send(rank - 1, output.range(rank, rank + 1));
    b.recv(rank - 1, output.range(0, b.size()));
    output.finish();
    return;
  }
  if (fold.works_for_two(self)) b.recv(rank + 1, output.range(rank + 1, rank + 2));
  // The blocks of the positions [first, first + count).
  const auto blocks = [&](int first, int count) {
    return output.range(fold.rank(first), fold.rank(first + count));
  };
  for (int distance = 1; distance < fold.power; distance *= 2) {
    const int peer = self ^ distance;
    b.send(fold.rank(peer), blocks(self & -distance, distance));
    b.recv(fold.rank(peer), blocks(peer & -distance, distance));
  }
  if (fold.works_for_two(self)) b.send(rank + 1, output.range(0, b.size()));
  output.finish();
}

}  // namespace unisono::allgather
