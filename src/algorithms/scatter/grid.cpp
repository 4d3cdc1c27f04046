// On a grid of ranks: the root scatters the rows' blocks to the leaders, which stand in its column,
// then every leader scatters in its row. T = T_columns(R, C b) + T_rows(C, b); bytes at the root
// (p - 1) b. Any p, any root; irregular counts must be known to all.
// Source: Kuehnemann, Rauber, Ruenger (2004).
#include "algorithms/algorithms.h"
#include "algorithms/grid_parts.h"

namespace unisono::scatter {

namespace {

/// The root's blocks one behind the other.
Slice staged_input(Builder& b) {
  const Layout& blocks = b.args().send;
  const Count total = blocks.total(0, b.size());
  const Count begin = b.args().input_block(0).offset;
  bool adjacent = true;
  for (Count i = 0, at = begin; i < b.size(); at += blocks.length(static_cast<int>(i++)))
    adjacent = adjacent && b.args().input_block(static_cast<int>(i)).offset == at;
  if (adjacent) return {kInput, begin, total};
  const Slice all = b.scratch(total);
  Count at = 0;
  for (int i = 0; i < b.size(); at += blocks.length(i++))
    b.copy(b.args().input_block(i), all.part(at, blocks.length(i)));
  return all;
}

}  // namespace

void grid(Builder& b) {
  const GridParts parts(b);
  const Grid& grid = parts.grid;
  const Args& args = b.args();
  const int column = grid.column(args.root);
  const auto in_row = parts.in_row(args.send, parts.row());
  Slice all, row;
  if (args.is_root()) {
    all = staged_input(b);
    row = parts.row_of(all, args.send, parts.row());
  } else if (parts.leads(column)) {
    row = b.scratch(sum(in_row));
  }
  if (parts.leads(column))
    parts.among_leaders(column).scatter(grid.row(args.root), parts.by_row(args.send), all, row);
  // In place the root's own block stays where it is.
  const Slice own = args.in_place ? block_at(row, in_row, parts.column()) : b.output();
  parts.first_in_row().scatter(grid.leader(parts.row(), column), in_row, row, own);
}

}  // namespace unisono::scatter
