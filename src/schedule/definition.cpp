#include "schedule/definition.h"

namespace unisono {

namespace {

/// One block per peer, numbered through in the order of the peers.
template <class BlockOf>
void add_blocks(std::vector<Content>& contents, int size, int owner, BlockOf block_of) {
  Count cell = 0;
  for (int i = 0; i < size; ++i) {
    const Slice block = block_of(i);
    contents.push_back({block, cell, Content::one, owner});
    cell += block.length;
  }
}

/// The number that the first cell of a block has in the contribution of `from`.
Count first_cell(const Args& from, int block) {
  Count cell = 0;
  for (int i = 0; i < block; ++i) cell += from.input_block(i).length;
  return cell;
}

std::vector<Content> after_among_neighbours(std::span<const Args> args, int rank) {
  const Args& a = args[static_cast<std::size_t>(rank)];
  const bool cuts = is_per_peer(semantics(a.collective).send.shape);
  std::vector<Content> contents;
  for (const NeighbourGraph::Edge& edge : a.graph->edges()) {
    const Args& from = args[static_cast<std::size_t>(edge.from)];
    if (edge.to == rank)
      contents.push_back({a.output_block(edge.received), cuts ? first_cell(from, edge.sent) : 0,
                          Content::one, edge.from});
  }
  return contents;
}

}  // namespace

std::vector<Content> before(std::span<const Args> args, int rank) {
  const Args& a = args[static_cast<std::size_t>(rank)];
  const Semantics& s = semantics(a.collective);
  std::vector<Content> contents;
  if (s.send.who == Who::nobody || (s.send.who == Who::root && !a.is_root())) return contents;
  if (is_per_peer(s.send.shape) && !s.is_reducing())
    add_blocks(contents, a.input_blocks(), rank, [&](int i) { return a.input_block(i); });
  else
    contents.push_back({a.input(), 0, Content::one, rank});
  return contents;
}

std::vector<Content> after(std::span<const Args> args, int rank) {
  const Args& a = args[static_cast<std::size_t>(rank)];
  const Semantics& s = semantics(a.collective);
  if (s.peers == Peers::neighbours) return after_among_neighbours(args, rank);
  std::vector<Content> contents;
  if (s.receive.who == Who::nobody || (s.receive.who == Who::root && !a.is_root())) return contents;
  const auto cell_from = [&](int owner) {
    return is_per_peer(s.send.shape) ? first_cell(args[static_cast<std::size_t>(owner)], rank) : 0;
  };
  switch (s.combines) {
    case Combines::nobody:
      if (is_per_peer(s.receive.shape))
        for (int i = 0; i < a.size; ++i)
          contents.push_back({a.output_block(i), cell_from(i), Content::one, i});
      else
        contents.push_back({a.output(), cell_from(a.root), Content::one, a.root});
      break;
    case Combines::all_ranks:
      contents.push_back({a.output(), cell_from(rank), Content::all_ranks, 0});
      break;
    case Combines::ranks_up_to:
      contents.push_back({a.output(), 0, Content::ranks_up_to, rank});
      break;
    case Combines::ranks_before:
      if (rank > 0) contents.push_back({a.output(), 0, Content::ranks_before, rank});
      break;
  }
  return contents;
}

}  // namespace unisono
