// Direct: everyone tells everyone.
// Rounds p - 1, one if every rank has as many ports; T = alpha in the memory of a node, where a
// rank tells all others with one store and reads p - 1 lines at once. Over a network see
// dissemination. Any p. Source: flags with a single writer, as in Open MPI's XHC component.
#include "algorithms/algorithms.h"
#include "patterns/rotation.h"

namespace unisono::barrier {

void direct(Builder& b) {
  const Rotation from_here{b.size(), b.rank()};
  for (int i = 1; i < b.size(); ++i) b.send_token(from_here.rank(i));
  for (int i = 1; i < b.size(); ++i) b.recv_token(from_here.rank(i));
}

}  // namespace unisono::barrier
