// On a grid of ranks. lanes (the paper's): every row collects its blocks, then every column the
// rows; T = T_rows(C, b) + T_columns(R, C b), bytes (p - 1) b. split: every column collects its own
// ranks' blocks, then every row the columns; T = T_columns(R, b) + T_rows(C, R b), as many bytes,
// but between rows each block goes once, not C times: for nodes that share a port. Surplus ranks
// give their block to their strand's first before, T = s b. leaders: rows to their leader, the
// leaders among themselves, everything back along the rows. Any p and counts; lanes: rows of equal
// length.
// Sources: Kuehnemann, Rauber, Ruenger (2004); split: Traeff, Hunold (2020).
#include "algorithms/algorithms.h"
#include "algorithms/grid_phases.h"
#include "patterns/blocks.h"

namespace unisono::allgather {

namespace {

void split(Builder& b, GridPhases& phases) {
  const Layout& blocks = b.args().recv;
  const auto in_strand = phases.lengths_in_strand(blocks, phases.row(), phases.lane());
  const auto in_lane = phases.lengths_in_lane(blocks, phases.lane());
  const auto lanes = phases.by_lane(blocks);
  // All ranks are in place, staged or not.
  GatheredOutput output(b, phases.in_lane_order(blocks), phases.position_in_lanes());
  const Slice all = output.range(0, b.size());
  const Slice lane = block_at(all, lanes, phases.lane());
  const Slice strand = block_at(lane, in_lane, phases.row());
  const Slice own = block_at(strand, in_strand, phases.place_in_strand());
  phases.in_strand(Collective::gather).gather(0, in_strand, own, strand);
  if (phases.in_lane()) phases.in_column().allgather(in_lane, strand, lane);
  phases.first_in_row().allgather(lanes, block_at(all, lanes, phases.column()), all);
  output.finish();
}

}  // namespace

void grid(Builder& b) {
  GridPhases phases(b);
  if (phases.form() == Form::split) return split(b, phases);
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
