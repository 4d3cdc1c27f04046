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

/// The number that the first cell of rank `to`'s block has in the contribution of `from`.
Count first_cell(const Args& from, int to) {
  Count cell = 0;
  for (int i = 0; i < to; ++i) cell += from.input_block(i).length;
  return cell;
}

}  // namespace

std::vector<Content> before(std::span<const Args> args, int rank) {
  const Args& a = args[static_cast<std::size_t>(rank)];
  std::vector<Content> contents;
  switch (a.collective) {
    case Collective::barrier: break;
    case Collective::bcast:
      if (a.is_root()) contents.push_back({a.output(), 0, Content::one, rank});
      break;
    case Collective::scatter:
    case Collective::scatterv:
      if (!a.is_root()) break;
      [[fallthrough]];
    case Collective::alltoall:
    case Collective::alltoallv:
    case Collective::alltoallw:
      add_blocks(contents, a.size, rank, [&](int i) { return a.input_block(i); });
      break;
    default: contents.push_back({a.input(), 0, Content::one, rank});
  }
  return contents;
}

std::vector<Content> after(std::span<const Args> args, int rank) {
  const Args& a = args[static_cast<std::size_t>(rank)];
  std::vector<Content> contents;
  const auto gathered = [&] {
    for (int i = 0; i < a.size; ++i) contents.push_back({a.output_block(i), 0, Content::one, i});
  };
  switch (a.collective) {
    case Collective::barrier: break;
    case Collective::bcast: contents.push_back({a.output(), 0, Content::one, a.root}); break;
    case Collective::gather:
    case Collective::gatherv:
      if (a.is_root()) gathered();
      break;
    case Collective::allgather:
    case Collective::allgatherv: gathered(); break;
    case Collective::scatter:
    case Collective::scatterv:
      contents.push_back({a.output(), first_cell(args[static_cast<std::size_t>(a.root)], rank),
                          Content::one, a.root});
      break;
    case Collective::alltoall:
    case Collective::alltoallv:
    case Collective::alltoallw:
      for (int i = 0; i < a.size; ++i)
        contents.push_back({a.output_block(i), first_cell(args[static_cast<std::size_t>(i)], rank),
                            Content::one, i});
      break;
    case Collective::reduce:
      if (a.is_root()) contents.push_back({a.output(), 0, Content::all_ranks, 0});
      break;
    case Collective::allreduce: contents.push_back({a.output(), 0, Content::all_ranks, 0}); break;
    case Collective::reduce_scatter_block:
    case Collective::reduce_scatter:
      contents.push_back({a.output(), first_cell(a, rank), Content::all_ranks, 0});
      break;
    case Collective::scan: contents.push_back({a.output(), 0, Content::ranks_up_to, rank}); break;
    case Collective::exscan:
      if (rank > 0) contents.push_back({a.output(), 0, Content::ranks_before, rank});
      break;
  }
  return contents;
}

}  // namespace unisono
