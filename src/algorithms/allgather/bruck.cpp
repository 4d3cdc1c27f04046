// Bruck: every step multiplies the blocks held by the radix k, with k - 1 messages at once. A rank
// holds the n blocks from its own on (cyclically) and gets the next n from rank + n, and so on.
// Steps ceil(log_k p) of k - 1 messages, bytes (p - 1) b; T = (k - 1) ceil(log_k p) alpha + (p - 1)
// beta b. One copy of the result at the end, except on rank 0. Any p. Source: Bruck, Ho, Kipnis,
// Upfal, Weathersby, Efficient Algorithms for All-to-All Communications (1997).
#include <algorithm>
#include <cstdint>

#include "algorithms/algorithms.h"
#include "patterns/blocks.h"

namespace unisono::allgather {

void bruck(Builder& b) {
  const std::int64_t p = b.size();
  const std::int64_t radix = b.args().params.radix;
  const Rotation order{b.size(), b.rank()};
  GatheredOutput output(b, order);
  for (std::int64_t held = 1; held < p; held *= radix)
    for (std::int64_t next = held; next < std::min(p, held * radix); next += held) {
      const auto at = static_cast<int>(next);
      const auto count = static_cast<int>(std::min(held, p - next));
      b.recv(order.rank(at), output.range(at, at + count));
      b.send(order.rank(-at), output.range(0, count));
    }
  output.finish();
}

}  // namespace unisono::allgather
