// On a grid of ranks. leaders: every row reduces to its leader, then the leaders to the root;
// T = T_rows(C, m) + T_columns(R, m). lanes: every row shares its sum out, every column reduces its
// share to the root's row, which gathers the shares: about 2 m per rank; of rows of several lengths
// the shortest has a share for each rank. Rank order is kept where the inner algorithms keep it.
// Any p, any root, any rows.
// Sources: Kuehnemann, Rauber, Ruenger (2004); Traeff, Hunold (2020).
#include "algorithms/algorithms.h"
#include "algorithms/grid_phases.h"

namespace unisono::reduce {

void grid(Builder& b) {
  const GridPhases phases(b);
  const Grid& grid = phases.grid;
  const Args& args = b.args();
  const int row = grid.row(args.root), column = grid.column(args.root);
  if (phases.form() == Form::leaders) {
    Slice sum = args.is_root() ? b.output() : Slice{};
    if (phases.leads(column) && !args.is_root()) sum = b.scratch(args.count);
    phases.first_in_row().reduce(grid.leader(phases.row(), column), b.input(), sum);
    if (phases.leads(column)) phases.among_leaders(column).reduce(row, sum, sum);
    return;
  }
  const auto shares = phases.shares(b.input());
  const Slice own = b.scratch(shares[static_cast<std::size_t>(phases.column())]);
  phases.first_in_row().reduce_scatter(shares, b.input(), own);
  if (phases.in_lane()) phases.in_column().reduce(row, own, own);
  if (phases.row() == row) phases.second_in_row().gather(column, shares, own, b.output());
}

}  // namespace unisono::reduce
