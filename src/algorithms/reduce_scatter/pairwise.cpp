// Pairwise: in round s rank r receives its block from rank r + s and sends r - s the other's.
// Rounds p - 1, bytes (p - 1) / p m; T = (p - 1)(alpha + (beta + gamma) b). Contributions come
// straight from their owners in cyclic order; those of the ranks below r form a second sum, so that
// the operation need not commute. Scratch: `window` blocks for each. Any p.
// Source: textbook; Thakur, Rabenseifner, Gropp (2005).
#include <optional>

#include "algorithms/algorithms.h"
#include "patterns/accumulator.h"
#include "patterns/rotation.h"
#include "patterns/window.h"

namespace unisono::reduce_scatter {

void pairwise(Builder& b) {
  const Args& args = b.args();
  const Rotation ring{args.size};
  const int buffers = 1 + static_cast<int>(args.params.window);
  // In place the output lies upon input blocks that are still to be sent.
  const Slice workspace = args.in_place ? Slice{} : b.output();
  Accumulator sum(b, b.input_block(args.rank), workspace, !args.commutative, buffers);
  std::optional<Accumulator> below;  // ranks 0, 1, ... up to the own one, if order matters
  RoundWindow rounds(b, args.params.window);
  for (int s = 1; s < args.size; ++s, rounds.next_round()) {
    const int from = ring.rank(args.rank + s);
    const int to = ring.rank(args.rank - s);
    rounds.send(to, b.input_block(to));
    if (from == 0 && !args.commutative) {
      const Slice first = b.scratch(b.output().length);
      rounds.note(b.recv(from, first));
      below.emplace(b, first, first, true, buffers);
    } else {
      rounds.note((below ? *below : sum).receive(from, Side::right));
    }
  }
  if (below) sum.add_left(below->value());
  b.copy(sum.value(), b.output());
}

}  // namespace unisono::reduce_scatter
