// On a grid of ranks. lanes: every column shares out the sums of the rows' blocks, then every row
// those of its ranks; T = T_columns(R, m) + T_rows(C, m / R), bytes (p - 1) / p m; the sums are not
// in rank order, the rows of equal length. split: every row shares out the sums of the columns'
// blocks, then every column those of its ranks; T = T_rows(C, m) + T_columns(R, m / C), as many
// bytes, but between rows each partial sum goes once, not C times; surplus ranks get their block
// from their strand's first, T = s b. leaders: rows reduce to their leader, the leaders share out,
// rows scatter. Any p; split and leaders: any rows, rank order where the inner algorithms keep it.
// Sources: Kuehnemann, Rauber, Ruenger (2004), whose construction this applies; split: Traeff,
// Hunold (2020).
#include "algorithms/algorithms.h"
#include "algorithms/grid_phases.h"
#include "patterns/blocks.h"

namespace unisono::reduce_scatter {

namespace {

void split(Builder& b, GridPhases& phases) {
  const Layout& blocks = b.args().recv;
  const auto in_strand = phases.lengths_in_strand(blocks, phases.row(), phases.lane());
  const auto lanes = phases.by_lane(blocks);
  const Slice vector =
      UserRuns(b, {phases.in_lane_order(blocks), {b.size()}}, b.input().buffer).packed(0, b.size());
  const Slice lane = b.scratch(lanes[static_cast<std::size_t>(phases.column())]);
  phases.first_in_row().reduce_scatter(lanes, vector, lane);
  Slice strand;
  if (phases.in_lane()) {
    strand = in_strand.size() == 1 ? b.output() : b.scratch(sum(in_strand));
    phases.in_column().reduce_scatter(phases.lengths_in_lane(blocks, phases.lane()), lane, strand);
  }
  phases.in_strand(Collective::scatter).scatter(0, in_strand, strand, b.output());
}

}  // namespace

void grid(Builder& b) {
  GridPhases phases(b);
  if (phases.form() == Form::split) return split(b, phases);
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
