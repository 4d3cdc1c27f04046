// On a grid of ranks: messages are combined. lanes: in its row a rank hands over all that goes to a
// column, in its column all that goes to a rank: C + R - 2 messages instead of p - 1, of R b and
// C b; twice the bytes. Where rows differ in length, columns carry their strands' blocks, and the
// first of a strand hands them to s - 1 others, p b each. leaders: rows to their leader, the
// leaders among themselves, back along the rows. Any p, any rows. For small blocks. Sources:
// textbook (message combining); Kinkead et al., node-aware all-to-all (2025).
#include "algorithms/algorithms.h"
#include "algorithms/grid_phases.h"
#include "patterns/blocks.h"

namespace unisono::alltoall {

namespace {

/// Scratch memory with `n` blocks of `unit` units, block i copied from from(i).
Slice packed(Builder& b, Count unit, int n, const std::function<Slice(int)>& from) {
  const Slice all = b.scratch(unit * n);
  copy_blocks(b, n, from, [&](int i) { return all.part(i * unit, unit); });
  return all;
}

/// What the ranks of a row hand to those in the lanes: all that goes to a lane.
std::vector<Count> into_lanes(const GridPhases& phases, Count unit) {
  const int ranks = phases.grid.length(phases.row());
  std::vector<Count> matrix;
  for (int from = 0; from < ranks; ++from)
    for (int lane = 0; lane < ranks; ++lane)
      matrix.push_back(lane < phases.grid.shortest() ? phases.ranks_in_lane(lane) * unit : 0);
  return matrix;
}

/// What rows exchange in a lane: from all ranks of one to a strand of another.
std::vector<Count> in_lane(const GridPhases& phases, Count unit) {
  std::vector<Count> matrix;
  for (int from = 0; from < phases.grid.rows(); ++from)
    for (int to = 0; to < phases.grid.rows(); ++to)
      matrix.push_back(Count{phases.grid.length(from)} * phases.ranks_in_strand(to, phases.lane()) *
                       unit);
  return matrix;
}

/// Of a rank's part of `gathered`, sender by sender, the same by rows that it goes to.
Slice by_rows(Builder& b, const GridPhases& phases, Count unit, Slice gathered) {
  const int senders = phases.grid.length(phases.row());
  const int ranks = phases.ranks_in_lane(phases.lane());
  const Slice all = b.scratch(gathered.length);
  Count at = 0, before = 0;
  for (int row = 0; row < phases.grid.rows(); ++row) {
    const Count strand = phases.ranks_in_strand(row, phases.lane()) * unit;
    for (int from = 0; from < senders; ++from, at += strand)
      b.copy(gathered.part(Count{from} * ranks * unit + before, strand), all.part(at, strand));
    before += strand;
  }
  return all;
}

void lanes(Builder& b, GridPhases& phases) {
  const Count unit = b.args().recv.count;
  const int senders = phases.grid.length(phases.row());
  const auto order = phases.lane_order();
  const Slice handed = packed(b, unit, b.size(), [&](int i) {
    return b.args().input_block(order[static_cast<std::size_t>(i)]);
  });
  Slice gathered;
  if (phases.in_lane()) gathered = b.scratch(unit * senders * phases.ranks_in_lane(phases.lane()));
  phases.first_in_row().alltoall(into_lanes(phases, unit), handed, gathered);
  UserRuns output(b, {phases.in_grid_order(b.args().recv), {b.size()}}, kOutput);
  const Slice own = output.place(0, b.size());
  const int strand = phases.ranks_in_strand(phases.row(), phases.lane());
  Slice handed_out;
  if (phases.in_lane()) {
    const Slice received = strand == 1 ? own : b.scratch(own.length * strand);
    phases.in_column().alltoall(in_lane(phases, unit), by_rows(b, phases, unit, gathered),
                                received);
    handed_out = strand == 1 ? own : packed(b, unit, b.size() * strand, [&](int i) {
      return received.part((i % b.size() * strand + i / b.size()) * unit, unit);
    });
  }
  const std::vector<Count> each(static_cast<std::size_t>(strand), own.length);
  phases.in_strand(Collective::scatter).scatter(0, each, handed_out, own);
  output.unpack();
}

/// What the leaders exchange: the blocks from all ranks of one row to all of another.
std::vector<Count> between_rows(const Grid& grid, Count unit) {
  std::vector<Count> matrix;
  for (int i = 0; i < grid.rows(); ++i)
    for (int j = 0; j < grid.rows(); ++j)
      matrix.push_back(Count{grid.length(i)} * grid.length(j) * unit);
  return matrix;
}

void leaders(Builder& b, const GridPhases& phases) {
  const Grid& grid = phases.grid;
  const Count unit = b.args().recv.count, whole = unit * b.size();
  const int mine = grid.length(phases.row());
  const std::vector<Count> each(static_cast<std::size_t>(mine), whole);
  Slice own = b.args().input_block(0);
  own.length = whole;
  Slice gathered, handed_out;
  if (phases.leads(0)) gathered = b.scratch(mine * whole);
  phases.first_in_row().gather(0, each, own, gathered);
  if (phases.leads(0)) {
    const Slice sent = b.scratch(mine * whole);
    Count at = 0;
    for (int i = 0; i < grid.rows(); ++i)
      for (int from = 0; from < mine; ++from) {
        const Slice part = sent.part(at, grid.length(i) * unit);
        at += part.length;
        copy_blocks(
            b, grid.length(i),
            [&](int k) { return gathered.part(from * whole + grid.rank(i, k) * unit, unit); },
            [&](int k) { return part.part(k * unit, unit); });
      }
    const Slice received = b.scratch(mine * whole);
    phases.among_leaders(0).alltoall(between_rows(grid, unit), sent, received);
    handed_out = packed(b, unit, mine * b.size(), [&](int i) {
      return received.part((grid.position(i % b.size()) * mine + i / b.size()) * unit, unit);
    });
  }
  phases.second_in_row().scatter(0, each, handed_out, b.output_blocks(0, b.size()));
}

}  // namespace

void grid(Builder& b) {
  GridPhases phases(b);
  phases.form() == Form::lanes ? lanes(b, phases) : leaders(b, phases);
}

}  // namespace unisono::alltoall
