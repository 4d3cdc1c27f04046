// On a grid of ranks. lanes (the paper's): every row collects its blocks, then every column the
// rows; T = T_rows(C, b) + T_columns(R, C b), bytes (p - 1) b. leaders: rows to their leader, the
// leaders among themselves, everything back along the rows; for any p. Any counts, any rows.
// Source: Kuehnemann, Rauber, Ruenger (2004).
#include "algorithms/algorithms.h"
#include "algorithms/grid_phases.h"
#include "patterns/blocks.h"

namespace unisono::allgather {

void grid(Builder& b) {
  GridPhases phases(b);
  const Layout& blocks = b.args().recv;
  const auto in_row = phases.lengths_in_row(blocks, phases.row());
  // All ranks are in place, staged or not.
  GatheredOutput output(b, phases.in_grid_order(blocks), phases.position());
  const Slice all = output.range(0, b.size());
  const Slice row = phases.row_of(all, blocks, phases.row());
  const Slice own = block_at(row, in_row, phases.column());
  if (phases.form() == Form::lanes) {
    phases.first_in_row().allgather(in_row, own, row);
    phases.in_column().allgather(phases.by_row(blocks), row, all);
  } else {
    phases.first_in_row().gather(0, in_row, own, row);
    if (phases.leads(0)) phases.among_leaders(0).allgather(phases.by_row(blocks), row, all);
    phases.second_in_row().bcast(0, all);
  }
  output.finish();
}

}  // namespace unisono::allgather
