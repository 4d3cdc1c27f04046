// What all algorithms on a grid begin with: the grid, and who runs what in it.
#pragma once
#include <vector>

#include "algorithms/part.h"

namespace unisono {

class GridParts {
 public:
  explicit GridParts(Builder& b);

  Form form() const { return composition_.form; }
  int row() const { return grid.row(b_.rank()); }
  int column() const { return grid.column(b_.rank()); }
  /// Whether this rank speaks for its row when leaders stand in `column`.
  bool leads(int column) const { return grid.leader(row(), column) == this->column(); }

  Part first_in_row() const { return {b_, grid.row_of(b_.rank()), composition_.rows[0]}; }
  Part second_in_row() const { return {b_, grid.row_of(b_.rank()), composition_.rows[1]}; }
  Part in_column() const { return {b_, grid.column_of(b_.rank()), composition_.columns}; }
  /// This rank leads.
  Part among_leaders(int column) const { return {b_, grid.leaders(column), composition_.columns}; }

  /// Lengths of the blocks of a row's ranks.
  std::vector<Count> in_row(const Layout& blocks, int row) const;
  /// Lengths of the rows' blocks together.
  std::vector<Count> by_row(const Layout& blocks) const;
  /// The blocks of a row in `all`, which holds those of all ranks.
  Slice row_of(Slice all, const Layout& blocks, int row) const;
  /// Lengths when a vector is cut into a share for each column.
  std::vector<Count> shares(Slice vector) const;

  const Grid grid;

 private:
  Builder& b_;
  const Composition& composition_;
};

Count sum(std::span<const Count> lengths);

}  // namespace unisono
