// Recursive doubling, for scan and exscan: before the round of distance d a rank has the sum of the
// last d ranks up to itself; it sends that to rank + d and puts what rank - d sends to its left.
// Rounds q, bytes q m; T = q (alpha + beta m + gamma m), exscan 2 gamma m because it keeps the sum
// without the own contribution as well. Any p, rank order kept.
// Source: Hillis, Steele, Data Parallel Algorithms (1986); Kogge, Stone (1973).
#include "algorithms/algorithms.h"

namespace unisono::scan {

void recursive_doubling(Builder& b) {
  const int p = b.size();
  const int rank = b.rank();
  const bool exclusive = b.args().collective == Collective::exscan;
  const Slice out = b.output();
  const Slice with = exclusive ? b.scratch(out.length) : out;  // the sum with this rank
  const Slice arriving = b.scratch(out.length);

  if (!exclusive || rank < p - 1) b.copy(b.input(), with);
  for (int distance = 1; distance < p; distance *= 2) {
    if (rank + distance < p) b.send(rank + distance, with);
    if (rank < distance) continue;
    const bool first = exclusive && distance == 1;
    const Slice before = first ? out : arriving;
    b.recv(rank - distance, before);
    if (exclusive && !first) b.reduce(before, out);
    if (!exclusive || rank + 2 * distance < p) b.reduce(before, with);
  }
}

}  // namespace unisono::scan
