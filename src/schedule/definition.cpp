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
  const Semantics& s = semantics(a.collective);
  std::vector<Content> contents;
  if (s.send.who == Who::nobody || (s.send.who == Who::root && !a.is_root())) return contents;
  if (is_per_peer(s.send.shape) && !s.is_reducing())
    add_blocks(contents, a.size, rank, [&](int i) { return a.input_block(i); });
  else
    contents.push_back({a.input(), 0, Content::one, rank});
  return contents;
}

std::vector<Content> after(std::span<const Args> args, int rank) {
  const Args& a = args[static_cast<std::size_t>(rank)];
  const Semantics& s = semantics(a.collective);
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
