// Announced: a receiver tells the root that it has arrived, and the root sends to those who have.
// Rounds 2 (p - 1 messages at the root), bytes (p - 1) m at the root; T = 2 alpha + (p - 1)(alpha +
// beta m). Like flat, but nothing is sent to a rank that is not there: what is there already gets
// the whole bandwidth, and no message waits in the memory of a rank that is not looking. Any p, any
// root. No prediction. Source: own; tokens as in Patarasuk, Yuan, Efficient MPI_Bcast across
// Different Process Arrival Patterns (2008).
#include "algorithms/algorithms.h"

namespace unisono::bcast {

void announced(Builder& b) {
  const int p = b.size();
  const int root = b.args().root;
  if (!b.args().is_root()) {
    b.send_token(root);
    b.recv(root, b.output());
    return;
  }
  for (int i = 1; i < p; ++i) {
    const int peer = (root + i) % p;
    b.after(b.recv_token(peer));
    b.send(peer, b.output());
  }
}

}  // namespace unisono::bcast
