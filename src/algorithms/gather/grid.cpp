// On a grid of ranks: every row gathers at its leader, which stands in the root's column, then the
// leaders gather at the root. T = T_rows(C, b) + T_columns(R, C b); bytes at the root (p - 1) b.
// Any p, any root, any rows; irregular counts must be known to all.
// Source: Kuehnemann, Rauber, Ruenger (2004).
#include "algorithms/algorithms.h"
#include "algorithms/grid_phases.h"
#include "patterns/blocks.h"

namespace unisono::gather {

void grid(Builder& b) {
  GridPhases phases(b);
  const Grid& grid = phases.grid;
  const Args& args = b.args();
  const int column = grid.column(args.root);
  const auto in_row = phases.lengths_in_row(args.recv, phases.row());
  UserRuns output(b, {phases.in_grid_order(args.recv), {b.size()}}, kOutput);
  Slice all, row;
  if (args.is_root()) {
    all = output.place(0, b.size());
    row = phases.row_of(all, args.recv, phases.row());
  } else if (phases.leads(column)) {
    row = b.scratch(sum(in_row));
  }
  phases.first_in_row().gather(grid.leader(phases.row(), column), in_row, b.input(), row);
  if (phases.leads(column))
    phases.among_leaders(column).gather(grid.row(args.root), phases.by_row(args.recv), row, all);
  output.unpack();
}

}  // namespace unisono::gather
