// Bruck: the block for rank + d travels along the digits of d in base k: in step (j, z) every rank
// sends to rank + z k^j, as one message, the blocks it holds whose j-th digit is z.
// Steps ceil(log_k p) of k - 1 messages, bytes about b p (k - 1) / k log_k p; T = (k - 1)
// ceil(log_k p)(alpha + beta b p / k). No rotations: blocks are copied when packed and at the end.
// Any p; scratch is twice the bytes sent; irregular counts need the count matrix. Sources: Bruck et
// al. (1997); without rotations Traeff, Rougier, Hunold (2014); irregular Fan et al. (2022).
#include <cstdint>
#include <vector>

#include "algorithms/algorithms.h"
#include "patterns/blocks.h"

namespace unisono::alltoall {

namespace {

/// Cuts the first `units` off `rest`.
Slice take(Slice& rest, Count units) {
  const Slice head = rest.part(0, units);
  rest = rest.part(units, rest.length - units);
  return head;
}

}  // namespace

void bruck(Builder& b) {
  const int p = b.size();
  const int rank = b.rank();
  const std::int64_t radix = b.args().params.radix;
  const auto ahead = [p](int r, std::int64_t d) {
    return Rotation{p, r}.rank(static_cast<int>(d));
  };
  const auto at = [](auto& blocks, std::int64_t d) -> auto& {
    return blocks[static_cast<std::size_t>(d)];
  };
  // here[d]: the block that travels the distance d and is at this rank now.
  std::vector<Slice> here;
  for (int d = 0; d < p; ++d) here.push_back(b.input_block(ahead(rank, d)));

  for (std::int64_t weight = 1; weight < p; weight *= radix) {
    // The length of here[d] after this digit: its source is then so far behind.
    const auto arriving = [&](std::int64_t d) {
      const int source = ahead(rank, -(d % (weight * radix)));
      if (b.args().matrix == nullptr) return b.args().send.count;
      return b.args().matrix->at(source, ahead(source, d));
    };
    Count out = 0, in = 0;
    for (std::int64_t d = weight; d < p; ++d)
      if (d / weight % radix != 0) out += at(here, d).length, in += arriving(d);
    Slice outgoing = b.scratch(out), incoming = b.scratch(in);

    for (std::int64_t step = weight; step < p && step < weight * radix; step += weight) {
      std::vector<Slice> leaving, packed;
      Slice message{incoming.buffer, incoming.offset, 0};
      Slice full = outgoing;
      for (std::int64_t first = step; first < p; first += weight * radix)
        for (std::int64_t d = first; d < p && d < first + weight; ++d) {
          leaving.push_back(at(here, d));
          packed.push_back(take(outgoing, at(here, d).length));
          at(here, d) = take(incoming, arriving(d));
          message.length += at(here, d).length;
        }
      copy_blocks(
          b, static_cast<int>(leaving.size()), [&](int i) { return at(leaving, i); },
          [&](int i) { return at(packed, i); });
      b.recv(ahead(rank, -step), message);
      b.send(ahead(rank, step), full.part(0, full.length - outgoing.length));
    }
  }
  for (int d = 0; d < p; ++d) b.copy(at(here, d), b.output_block(ahead(rank, -d)));
}

}  // namespace unisono::alltoall
