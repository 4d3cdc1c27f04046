// On a grid of ranks. full: rows, then columns: who leaves its column has heard of every row.
// leaders: rows, their leaders, rows again, for grids with a shorter last row. T = T_rows(C) +
// T_columns(R), plus T_rows(C) with leaders. Any p.
// Source: Kuehnemann, Rauber, Ruenger (2004), whose construction this applies to the barrier.
#include "algorithms/algorithms.h"
#include "algorithms/grid_parts.h"

namespace unisono::barrier {

void grid(Builder& b) {
  const GridParts parts(b);
  parts.first_in_row().barrier();
  if (parts.form() == Form::full) return parts.in_column().barrier();
  if (parts.leads(0)) parts.among_leaders(0).barrier();
  parts.second_in_row().barrier();
}

}  // namespace unisono::barrier
