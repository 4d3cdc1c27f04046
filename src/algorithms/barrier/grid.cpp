// On a grid of ranks. full: rows, then columns: who leaves its column has heard of every row.
// leaders: rows, their leaders, rows again, for grids with a shorter last row. T = T_rows(C) +
// T_columns(R), plus T_rows(C) with leaders. Any p.
// Source: Kuehnemann, Rauber, Ruenger (2004), whose construction this applies to the barrier.
#include "algorithms/algorithms.h"
#include "algorithms/grid_phases.h"

namespace unisono::barrier {

void grid(Builder& b) {
  const GridPhases phases(b);
  phases.first_in_row().barrier();
  if (phases.form() == Form::full) return phases.in_column().barrier();
  if (phases.leads(0)) phases.among_leaders(0).barrier();
  phases.second_in_row().barrier();
}

}  // namespace unisono::barrier
