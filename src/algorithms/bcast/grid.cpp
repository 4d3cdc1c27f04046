// On a grid of ranks. leaders: the root's value goes to one leader in each row, then along the
// rows; T = T_columns(R, m) + T_rows(C, m). lanes: the root's row shares the vector out, every
// column broadcasts its share, the rows collect the shares: no rank sends more than about 2 m; of
// rows of several lengths the shortest has a share for each rank. Any p, any root, any rows.
// Sources: Kuehnemann, Rauber, Ruenger (2004); Traeff, Hunold (2020).
#include "algorithms/algorithms.h"
#include "algorithms/grid_phases.h"

namespace unisono::bcast {

void grid(Builder& b) {
  const GridPhases phases(b);
  const Grid& grid = phases.grid;
  const int root = b.args().root;
  const int column = grid.column(root);
  if (phases.form() == Form::leaders) {
    if (phases.leads(column)) phases.among_leaders(column).bcast(grid.row(root), b.output());
    phases.first_in_row().bcast(grid.leader(phases.row(), column), b.output());
    return;
  }
  const auto shares = phases.shares(b.output());
  const Slice own = block_at(b.output(), shares, phases.column());
  if (phases.row() == grid.row(root))
    phases.first_in_row().scatter(column, shares, b.output(), own);
  if (phases.in_lane()) phases.in_column().bcast(grid.row(root), own);
  phases.second_in_row().allgather(shares, own, b.output());
}

}  // namespace unisono::bcast
