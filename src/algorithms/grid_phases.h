// What all algorithms on a grid begin with: the grid, and who runs what in it. Blocks of several
// rows lie in the order of the grid, row after row, and are brought to that of the ranks, or from
// it, where the two differ.
#pragma once
#include <span>
#include <vector>

#include "algorithms/composition.h"
#include "algorithms/sub_collective.h"

namespace unisono {

class GridPhases {
 public:
  explicit GridPhases(Builder& b);

  Form form() const { return composition_.form; }
  int row() const { return grid.row(b_.rank()); }
  int column() const { return grid.column(b_.rank()); }
  /// Of this rank in the order of the grid.
  int position() const { return grid.position(b_.rank()); }
  /// Whether this rank speaks for its row when leaders stand in `column`.
  bool leads(int column) const { return grid.leader(row(), column) == this->column(); }

  SubCollective first_in_row() const { return in_row(composition_.rows[0]); }
  SubCollective second_in_row() const { return in_row(composition_.rows[1]); }
  SubCollective in_column() const { return among_leaders(column()); }
  /// This rank leads.
  SubCollective among_leaders(int column) const;

  /// The layout with the blocks counted in the order of the grid. Valid as long as this object and
  /// what `blocks` refers to.
  Layout in_grid_order(const Layout& blocks);
  /// Lengths of the blocks of a row's ranks.
  std::vector<Count> lengths_in_row(const Layout& blocks, int row) const;
  /// Lengths of the rows' blocks together.
  std::vector<Count> by_row(const Layout& blocks) const;
  /// The blocks of a row in `all`, which holds those of all ranks in the order of the grid.
  Slice row_of(Slice all, const Layout& blocks, int row) const;
  /// Lengths when a vector is cut into a share for each column.
  std::vector<Count> shares(Slice vector) const;

  const Grid grid;

 private:
  SubCollective in_row(const NestedSpec& spec) const { return {b_, grid.row_of(b_.rank()), spec}; }

  Builder& b_;
  const Composition& composition_;
  std::vector<Count> counts_, displs_;  // of in_grid_order()
};

Count sum(std::span<const Count> lengths);

}  // namespace unisono
