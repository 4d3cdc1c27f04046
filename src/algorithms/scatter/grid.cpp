// On a grid of ranks: the root scatters the rows' blocks to the leaders, which stand in its column,
// then every leader scatters in its row. T = T_columns(R, C b) + T_rows(C, b); bytes at the root
// (p - 1) b. Any p, any root, any rows; irregular counts must be known to all.
// Source: Kuehnemann, Rauber, Ruenger (2004).
#include "algorithms/algorithms.h"
#include "algorithms/grid_phases.h"
#include "patterns/blocks.h"

namespace unisono::scatter {

void grid(Builder& b) {
  GridPhases phases(b);
  const Grid& grid = phases.grid;
  const Args& args = b.args();
  const int column = grid.column(args.root);
  const auto in_row = phases.lengths_in_row(args.send, phases.row());
  Slice all, row;
  if (args.is_root()) {
    all = UserRuns(b, {phases.in_grid_order(args.send), {b.size()}}, kInput).packed(0, b.size());
    row = phases.row_of(all, args.send, phases.row());
  } else if (phases.leads(column)) {
    row = b.scratch(sum(in_row));
  }
  if (phases.leads(column))
    phases.among_leaders(column).scatter(grid.row(args.root), phases.by_row(args.send), all, row);
  // In place the root's own block stays where it is.
  const Slice own = args.in_place ? block_at(row, in_row, phases.column()) : b.output();
  phases.first_in_row().scatter(grid.leader(phases.row(), column), in_row, row, own);
}

}  // namespace unisono::scatter
