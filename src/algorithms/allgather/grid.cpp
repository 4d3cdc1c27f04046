// On a grid of ranks. lanes (the paper's): every row collects its blocks, then every column the
// rows; T = T_rows(C, b) + T_columns(R, C b), bytes (p - 1) b. leaders: rows to their leader, the
// leaders among themselves, everything back along the rows; for any p. Any counts.
// Source: Kuehnemann, Rauber, Ruenger (2004).
#include "algorithms/algorithms.h"
#include "algorithms/grid_parts.h"
#include "patterns/blocks.h"

namespace unisono::allgather {

void grid(Builder& b) {
  const GridParts parts(b);
  const Layout& blocks = b.args().recv;
  const auto in_row = parts.in_row(blocks, parts.row());
  GatheredOutput output(b, {b.size()});  // so that all ranks are in place, staged or not
  const Slice all = output.range(0, b.size());
  const Slice row = parts.row_of(all, blocks, parts.row());
  const Slice own = block_at(row, in_row, parts.column());
  if (parts.form() == Form::lanes) {
    parts.first_in_row().allgather(in_row, own, row);
    parts.in_column().allgather(parts.by_row(blocks), row, all);
  } else {
    parts.first_in_row().gather(0, in_row, own, row);
    if (parts.leads(0)) parts.among_leaders(0).allgather(parts.by_row(blocks), row, all);
    parts.second_in_row().bcast(0, all);
  }
  output.finish();
}

}  // namespace unisono::allgather
