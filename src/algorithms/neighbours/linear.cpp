// Linear: every rank sends a block to each of its neighbours and receives one from each, all at
// once, as MPI libraries do. One round of as many messages as there are neighbours, d; T = d (alpha
// + beta b). No rank needs to know more than its own neighbours. Any topology, any counts. Source:
// textbook.
#include "algorithms/algorithms.h"

namespace unisono::neighbours {

void linear(Builder& b) {
  const Neighbourhood& own = *b.args().neighbours;
  const auto input_block = [&b](int i) {
    return is_per_peer(semantics(b.args().collective).send.shape) ? b.input_block(i) : b.input();
  };
  for (const auto& [sent, received] : own.to_itself(b.rank()))
    b.copy(input_block(sent), b.output_block(received));
  for (const int i : own.arrival_order()) {
    const std::int32_t source = own.sources[static_cast<std::size_t>(i)];
    if (source != kNobody && source != b.rank()) b.recv(source, b.output_block(i));
  }
  for (int i = 0; i < b.args().input_blocks(); ++i) {
    const std::int32_t destination = own.destinations[static_cast<std::size_t>(i)];
    if (destination != kNobody && destination != b.rank()) b.send(destination, input_block(i));
  }
}

}  // namespace unisono::neighbours
