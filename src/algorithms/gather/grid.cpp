// On a grid of ranks: every row gathers at its leader, which stands in the root's column, then the
// leaders gather at the root. T = T_rows(C, b) + T_columns(R, C b); bytes at the root (p - 1) b.
// Any p, any root; irregular counts must be known to all.
// Source: Kuehnemann, Rauber, Ruenger (2004).
#include "algorithms/algorithms.h"
#include "algorithms/grid_parts.h"
#include "patterns/blocks.h"

namespace unisono::gather {

void grid(Builder& b) {
  const GridParts parts(b);
  const Grid& grid = parts.grid;
  const Args& args = b.args();
  const int column = grid.column(args.root);
  const auto in_row = parts.in_row(args.recv, parts.row());
  UserRuns output(b, {args.recv, {b.size()}}, kOutput);
  Slice all, row;
  if (args.is_root()) {
    all = output.place(0, b.size());
    row = parts.row_of(all, args.recv, parts.row());
  } else if (parts.leads(column)) {
    row = b.scratch(sum(in_row));
  }
  parts.first_in_row().gather(grid.leader(parts.row(), column), in_row, b.input(), row);
  if (parts.leads(column))
    parts.among_leaders(column).gather(grid.row(args.root), parts.by_row(args.recv), row, all);
  output.unpack();
}

}  // namespace unisono::gather
