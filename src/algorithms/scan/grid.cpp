// On a grid of ranks: every row scans; the last of each row knows the row's sum, and the leaders'
// exclusive scan gives what lies before their row, which every rank adds on the left.
// T = T_rows(C, m) + T_columns(R, m) + T_bcast(C, m). Rank order is kept. Any p.
// Source: Kuehnemann, Rauber, Ruenger (2004), whose construction this applies to the scan.
#include "algorithms/algorithms.h"
#include "algorithms/grid_phases.h"

namespace unisono::scan {

void grid(Builder& b) {
  const GridPhases phases(b);
  const bool exclusive = b.args().collective == Collective::exscan;
  const int last = phases.grid.width() - 1;  // leaders stand at the end of their rows
  const bool leads = phases.leads(last);
  const Slice scanned = b.output();

  Slice total = scanned;
  if (exclusive && leads) {
    total = b.scratch(b.args().count);
    b.copy(b.input(), total);
  }
  if (exclusive)
    phases.first_in_row().exscan(b.input(), scanned);
  else
    phases.first_in_row().scan(b.input(), scanned);
  if (exclusive && leads && phases.column() > 0) b.reduce(scanned, total);

  const Slice before = b.scratch(b.args().count);
  if (leads) phases.among_leaders(last).exscan(total, before);
  if (phases.row() == 0) return;
  phases.second_in_row().bcast(phases.grid.leader(phases.row(), last), before);
  if (exclusive && phases.column() == 0)
    b.copy(before, scanned);
  else
    b.reduce(before, scanned);
}

}  // namespace unisono::scan
