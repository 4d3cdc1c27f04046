// On a grid of ranks: messages are combined. lanes: in its row a rank hands over all that goes to a
// column, in its column all that goes to a rank: C + R - 2 messages instead of p - 1, of R b and
// C b; twice the bytes. leaders: rows to their leader, the leaders among themselves, back along the
// rows; for any p. For small blocks.
// Sources: textbook (message combining); Kinkead et al., node-aware all-to-all (2025).
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

void lanes(Builder& b, GridPhases& phases) {
  const Grid& grid = phases.grid;
  const int rows = grid.rows(), width = grid.width();
  const Count unit = b.args().recv.count;
  const Slice to_columns = packed(b, unit, b.size(), [&](int i) {
    return b.args().input_block(grid.rank(i % rows, i / rows));
  });
  const Slice in_column = b.scratch(unit * b.size());
  phases.first_in_row().alltoall(
      std::vector<Count>(static_cast<std::size_t>(width * width), rows * unit), to_columns,
      in_column);
  const Slice to_rows = packed(b, unit, b.size(), [&](int i) {
    return in_column.part((i % width * rows + i / width) * unit, unit);
  });
  UserRuns output(b, {phases.in_grid_order(b.args().recv), {b.size()}}, kOutput);
  phases.in_column().alltoall(
      std::vector<Count>(static_cast<std::size_t>(rows * rows), width * unit), to_rows,
      output.place(0, b.size()));
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
