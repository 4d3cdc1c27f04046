// Arrival-aware chain: receivers tell the root that they are there; the root sends the vector down
// a chain of all who are, then down a chain of those who have come meanwhile, and so on. Nobody
// waits for a rank that has not arrived, but for `pause` us after the first announcement of a set:
// ranks that arrive together then share a chain. A chain of k ranks takes 2 k tokens and k - 1 + n
// rounds of m/n; T = 2 k alpha + (k - 1 + n)(alpha + beta m / n); bytes m per rank, and m per chain
// at the root: m when all wait, (p - 1) m when all come one by one. Any p, any root. Source:
// Patarasuk, Yuan, Efficient MPI_Bcast across Different Process Arrival Patterns (2008).
#include "algorithms/algorithms.h"
#include "patterns/partition.h"

namespace unisono::bcast {

namespace {

void receive(Builder& b, const std::vector<Slice>& pieces) {
  const int root = b.args().root;
  const Slice neighbours = b.slots(2);
  b.send_token(root);
  b.recv(root, neighbours);
  for (const Slice& segment : pieces) {
    b.recv(bound(neighbours, 0), segment);
    b.send(bound(neighbours, 1), segment);
  }
}

}  // namespace

void arrival_chain(Builder& b) {
  const int p = b.size();
  const int root = b.args().root;
  const std::vector<Slice> pieces = segments(b.output(), b.args());
  if (pieces.empty()) return;
  if (!b.args().is_root()) return receive(b, pieces);
  for (int i = 1; i < p; ++i) {
    const int peer = (root + i) % p;
    const Slice neighbours = b.slots(2);
    b.after(b.recv_token(peer));
    b.enqueue(peer, neighbours);
    b.send(peer, neighbours);
  }
  const Slice first = b.slots(1);
  for (int chain = 1; chain < p; ++chain) {
    b.serve(first, b.args().params.pause);
    for (const Slice& segment : pieces) b.send(bound(first), segment);
  }
}

}  // namespace unisono::bcast
