// On a grid of ranks: the root scatters the rows' blocks to the leaders, which stand in its column,
// then every leader scatters in its row. T = T_columns(R, C b) + T_rows(C, b); bytes at the root
// (p - 1) b. Any p, any root; irregular counts must be known to all.
// Source: Kuehnemann, Rauber, Ruenger (2004).
#include "algorithms/algorithms.h"
#include "algorithms/grid_parts.h"
#include "patterns/blocks.h"

namespace unisono::scatter {

void grid(Builder& b) {
  const GridParts parts(b);
  const Grid& grid = parts.grid;
  const Args& args = b.args();
  const int column = grid.column(args.root);
  const auto in_row = parts.in_row(args.send, parts.row());
  Slice all, row;
  if (args.is_root()) {
    all = UserRuns(b, {args.send, {b.size()}}, kInput).packed(0, b.size());
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
