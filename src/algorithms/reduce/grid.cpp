// On a grid of ranks. leaders: every row reduces to its leader, then the leaders to the root;
// T = T_rows(C, m) + T_columns(R, m). lanes: every row shares its sum out, every column reduces its
// share to the root's row, which gathers the shares: about 2 m per rank. Rank order is kept where
// the inner algorithms keep it. leaders serve any p, lanes full grids; any root.
// Sources: Kuehnemann, Rauber, Ruenger (2004); Traeff, Hunold (2020).
#include "algorithms/algorithms.h"
#include "algorithms/grid_parts.h"

namespace unisono::reduce {

void grid(Builder& b) {
  const GridParts parts(b);
  const Grid& grid = parts.grid;
  const Args& args = b.args();
  const int row = grid.row(args.root), column = grid.column(args.root);
  if (parts.form() == Form::leaders) {
    Slice sum = args.is_root() ? b.output() : Slice{};
    if (parts.leads(column) && !args.is_root()) sum = b.scratch(args.count);
    parts.first_in_row().reduce(grid.leader(parts.row(), column), b.input(), sum);
    if (parts.leads(column)) parts.among_leaders(column).reduce(row, sum, sum);
    return;
  }
  const auto shares = parts.shares(b.input());
  const Slice own = b.scratch(shares[static_cast<std::size_t>(parts.column())]);
  parts.first_in_row().reduce_scatter(shares, b.input(), own);
  parts.in_column().reduce(row, own, own);
  if (parts.row() == row) parts.second_in_row().gather(column, shares, own, b.output());
}

}  // namespace unisono::reduce
