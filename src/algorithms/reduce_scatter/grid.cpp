// On a grid of ranks. lanes: every column shares out the sums of the rows' blocks, then every row
// those of its ranks; T = T_columns(R, m) + T_rows(C, m / R), bytes (p - 1) / p m; the sums are not
// in rank order. leaders: rows reduce to their leader, the leaders share out, rows scatter; for any
// p, in rank order. Source: Kuehnemann, Rauber, Ruenger (2004), whose construction this applies.
#include "algorithms/algorithms.h"
#include "algorithms/grid_phases.h"
#include "patterns/blocks.h"

namespace unisono::reduce_scatter {

void grid(Builder& b) {
  GridPhases phases(b);
  const Layout& blocks = b.args().recv;
  const auto in_row = phases.lengths_in_row(blocks, phases.row());
  const auto in_grid_order = [&](Slice vector) {
    if (phases.grid.is_in_rank_order()) return vector;
    return UserRuns(b, {phases.in_grid_order(blocks), {b.size()}}, vector.buffer)
        .packed(0, b.size());
  };
  if (phases.form() == Form::lanes) {
    const Slice row = b.scratch(sum(in_row));
    phases.in_column().reduce_scatter(phases.by_row(blocks), in_grid_order(b.input()), row);
    phases.first_in_row().reduce_scatter(in_row, row, b.output());
    return;
  }
  Slice vector, row;
  if (phases.leads(0)) {
    vector = b.scratch(b.input().length);
    row = b.scratch(sum(in_row));
  }
  phases.first_in_row().reduce(0, b.input(), vector);
  if (phases.leads(0))
    phases.among_leaders(0).reduce_scatter(phases.by_row(blocks), in_grid_order(vector), row);
  phases.second_in_row().scatter(0, in_row, row, b.output());
}

}  // namespace unisono::reduce_scatter
