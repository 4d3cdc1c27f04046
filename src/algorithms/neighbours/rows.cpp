// Rows: the ranks stand in rows of a grid, and blocks go along the row to the column of their
// receiver, then along the column to it; those that go together are one message. A stencil of 26
// neighbours takes 2 + 8 messages where a row is one of the dimensions, one of 8 takes 2 + 2, at
// the price of bytes: a block that turns is sent twice, but in an allgather one that several ranks
// of a column want goes to the column once. Two phases; T = (R + C)(alpha + beta B), where a rank
// sends to R others in its row and to C in its column. The length of rows divides p; standard: the
// one with the fewest messages at the rank that sends most. Any topology; counts of a rank's own
// are exchanged before. Source: message combining of Traeff, Hunold, Cartesian collective
// communication (2019), here for any graph.
#include "algorithms/algorithms.h"
#include "patterns/relay.h"

namespace unisono::neighbours {

namespace {

std::vector<int> way(const NeighbourGraph::Edge& edge, int row) {
  return {edge.from, edge.from / row * row + edge.to % row, edge.to};
}

int best_row(const NeighbourGraph& graph) {
  int best = 1, fewest = 0;
  for (int row = 1; row < graph.size(); ++row) {
    if (graph.size() % row != 0) continue;
    const int messages =
        most_messages(graph, [row](const NeighbourGraph::Edge& edge) { return way(edge, row); });
    if (row > 1 && messages >= fewest) continue;
    best = row, fewest = messages;
  }
  return best;
}

}  // namespace

void rows(Builder& b) {
  const auto asked = static_cast<int>(b.args().params.radix);
  const NeighbourGraph& graph = *b.args().graph;
  const int row = asked > 0 && b.size() % asked == 0 ? asked : best_row(graph);
  relay(b, [row](const NeighbourGraph::Edge& edge) { return way(edge, row); });
}

}  // namespace unisono::neighbours
