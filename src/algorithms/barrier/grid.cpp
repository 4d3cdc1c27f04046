// On a grid of ranks. full: rows, then columns: who leaves its column has heard of every row, and
// tells the surplus ranks of its strand, if rows differ in length. leaders: rows, their leaders,
// rows again. T = T_rows(C) + T_columns(R), plus alpha for surplus ranks, or T_rows(C) with
// leaders. Any p, any rows. Source: Kuehnemann, Rauber, Ruenger (2004), whose construction this
// applies to the barrier.
#include "algorithms/algorithms.h"
#include "algorithms/grid_phases.h"

namespace unisono::barrier {

namespace {

void full(Builder& b, const GridPhases& phases) {
  const Grid& grid = phases.grid;
  if (!phases.in_lane()) return void(b.recv_token(grid.rank(phases.row(), phases.lane())));
  phases.in_column().barrier();
  b.end_round();
  for (int column = phases.column() + grid.shortest(); column < grid.length(phases.row());
       column += grid.shortest())
    b.send_token(grid.rank(phases.row(), column));
}

}  // namespace

void grid(Builder& b) {
  const GridPhases phases(b);
  phases.first_in_row().barrier();
  if (phases.form() == Form::full) return full(b, phases);
  if (phases.leads(0)) phases.among_leaders(0).barrier();
  phases.second_in_row().barrier();
}

}  // namespace unisono::barrier
