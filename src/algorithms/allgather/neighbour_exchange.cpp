// Neighbour exchange: pairs of ranks exchange with their left and right neighbours in turn, two
// blocks at a time, so that news travels both ways round the ring at once.
// Rounds p / 2, bytes (p - 1) b; T = (p / 2) alpha + (p - 1) beta b. Half the rounds of the ring
// with the same neighbours. Even p. Source: Chen, Zhang, Zhang, Yuan, Performance Evaluation of
// Allgather Algorithms on Terascale Linux Cluster with Fast Ethernet (2005).
#include "algorithms/algorithms.h"
#include "patterns/blocks.h"

namespace unisono::allgather {

void neighbour_exchange(Builder& b) {
  const int rank = b.rank();
  const int pairs = b.size() / 2;
  const bool odd = rank % 2 != 0;
  const Rotation ring{b.size()};
  GatheredOutput output(b, ring);
  // The pair that reaches this rank in round i: in turn one further away on either side.
  const auto pair = [&](int i) {
    const int distance = (i + 1) / 2;
    const int number = (rank / 2 + ((i % 2 != 0) == odd ? distance : -distance) + pairs) % pairs;
    return output.range(2 * number, 2 * number + 2);
  };
  for (int i = 0; i < pairs; ++i) {
    const int peer = ring.wrap((i % 2 == 0) == odd ? rank - 1 : rank + 1);
    b.send(peer, i == 0 ? output.range(rank, rank + 1) : pair(i - 1));
    b.recv(peer, i == 0 ? output.range(peer, peer + 1) : pair(i));
  }
  output.finish();
}

}  // namespace unisono::allgather
