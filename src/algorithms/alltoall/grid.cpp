// On a grid of ranks: messages are combined. lanes: in its row a rank hands over all that goes to a
// column, in its column all that goes to a rank: C + R - 2 messages instead of p - 1, of R b and
// C b; twice the bytes. leaders: rows to their leader, the leaders among themselves, back along the
// rows; for any p. For small blocks.
// Sources: textbook (message combining); Kinkead et al., node-aware all-to-all (2025).
#include "algorithms/algorithms.h"
#include "algorithms/grid_parts.h"

namespace unisono::alltoall {

namespace {

/// Copies blocks of b.args().send.count units so that they come out in the order of `visit`.
class Packing {
 public:
  Packing(Builder& b, Count units, int blocks)
      : b_(b), units_(units), all_(b.scratch(units * blocks)) {}
  void add(Slice block) { b_.copy(block, all_.part(units_ * added_++, units_)); }
  Slice all() const { return all_; }

 private:
  Builder& b_;
  Count units_;
  Slice all_;
  int added_ = 0;
};

void lanes(Builder& b, const GridParts& parts) {
  const int rows = parts.grid.rows(), width = parts.grid.width();
  const Count unit = b.args().recv.count;
  Packing to_columns(b, unit, b.size());
  for (int j = 0; j < width; ++j)
    for (int i = 0; i < rows; ++i) to_columns.add(b.args().input_block(i * width + j));
  const Slice in_column = b.scratch(unit * b.size());
  parts.first_in_row().alltoall(
      std::vector<Count>(static_cast<std::size_t>(width * width), rows * unit), to_columns.all(),
      in_column);
  Packing to_rows(b, unit, b.size());
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < width; ++j) to_rows.add(in_column.part((j * rows + i) * unit, unit));
  parts.in_column().alltoall(
      std::vector<Count>(static_cast<std::size_t>(rows * rows), width * unit), to_rows.all(),
      b.output_blocks(0, b.size()));
}

/// What the leaders exchange: the blocks from all ranks of one row to all of another.
std::vector<Count> between_rows(const Grid& grid, Count unit) {
  std::vector<Count> matrix;
  for (int i = 0; i < grid.rows(); ++i)
    for (int j = 0; j < grid.rows(); ++j) matrix.push_back(grid.length(i) * grid.length(j) * unit);
  return matrix;
}

void leaders(Builder& b, const GridParts& parts) {
  const Grid& grid = parts.grid;
  const Count unit = b.args().recv.count, whole = unit * b.size();
  const int mine = grid.length(parts.row());
  const std::vector<Count> each(static_cast<std::size_t>(mine), whole);
  Slice own = b.args().input_block(0);
  own.length = whole;
  Slice gathered, handed_out;
  if (parts.leads(0)) gathered = b.scratch(mine * whole);
  parts.first_in_row().gather(0, each, own, gathered);
  if (parts.leads(0)) {
    Packing sent(b, unit, mine * b.size());
    for (int i = 0; i < grid.rows(); ++i)
      for (int from = 0; from < mine; ++from)
        for (int to = 0; to < grid.length(i); ++to)
          sent.add(gathered.part(from * whole + (grid.first(i) + to) * unit, unit));
    const Slice received = b.scratch(mine * whole);
    parts.among_leaders(0).alltoall(between_rows(grid, unit), sent.all(), received);
    Packing sorted(b, unit, mine * b.size());
    for (int to = 0; to < mine; ++to)
      for (int from = 0; from < b.size(); ++from)
        sorted.add(received.part((from * mine + to) * unit, unit));
    handed_out = sorted.all();
  }
  parts.second_in_row().scatter(0, each, handed_out, b.output_blocks(0, b.size()));
}

}  // namespace

void grid(Builder& b) {
  const GridParts parts(b);
  parts.form() == Form::lanes ? lanes(b, parts) : leaders(b, parts);
}

}  // namespace unisono::alltoall
