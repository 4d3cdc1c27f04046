// On a grid of ranks. lanes: every column shares out the sums of the rows' blocks, then every row
// those of its ranks; T = T_columns(R, m) + T_rows(C, m / R), bytes (p - 1) / p m; the sums are not
// in rank order. leaders: rows reduce to their leader, the leaders share out, rows scatter; for any
// p, in rank order. Source: Kuehnemann, Rauber, Ruenger (2004), whose construction this applies.
#include "algorithms/algorithms.h"
#include "algorithms/grid_parts.h"

namespace unisono::reduce_scatter {

void grid(Builder& b) {
  const GridParts parts(b);
  const Layout& blocks = b.args().recv;
  const auto in_row = parts.in_row(blocks, parts.row());
  if (parts.form() == Form::lanes) {
    const Slice row = b.scratch(sum(in_row));
    parts.in_column().reduce_scatter(parts.by_row(blocks), b.input(), row);
    parts.first_in_row().reduce_scatter(in_row, row, b.output());
    return;
  }
  Slice vector, row;
  if (parts.leads(0)) {
    vector = b.scratch(b.input().length);
    row = b.scratch(sum(in_row));
  }
  parts.first_in_row().reduce(0, b.input(), vector);
  if (parts.leads(0)) parts.among_leaders(0).reduce_scatter(parts.by_row(blocks), vector, row);
  parts.second_in_row().scatter(0, in_row, row, b.output());
}

}  // namespace unisono::reduce_scatter
