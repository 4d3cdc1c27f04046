// What all algorithms on a grid begin with: the grid, and who runs what in it. Blocks of several
// rows lie in the order of the grid, row after row, and are brought to that of the ranks, or from
// it, where the two differ.
//
// Where rows differ in length, there are as many lanes as the shortest row has ranks: the columns
// that every row has. More would not help, for that row's ranks would have to serve them all. The
// ranks behind them are surplus. A rank's lane is its column modulo the lanes, and the ranks of a
// row that share a lane are a strand: the one in the column, and the surplus that it serves.
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
  /// Whether every row has this rank's column.
  bool in_lane() const { return column() < lanes(); }
  int lane() const { return column() % lanes(); }
  int place_in_strand() const { return column() / lanes(); }
  /// Whether this rank speaks for its row when leaders stand in `column`.
  bool leads(int column) const { return grid.leader(row(), column) == this->column(); }

  SubCollective first_in_row() const { return in_row(composition_.rows[0]); }
  SubCollective second_in_row() const { return in_row(composition_.rows[1]); }
  /// This rank is in a lane.
  SubCollective in_column() const { return among_leaders(column()); }
  /// Textbook algorithms: few rows are longer than others, and by few ranks. The root is the first.
  SubCollective in_strand(Collective collective) const;
  /// This rank leads.
  SubCollective among_leaders(int column) const;

  /// The layout with the blocks counted in the order of the grid. Valid as long as this object and
  /// what `blocks` refers to.
  Layout in_grid_order(const Layout& blocks);
  /// With those of the first lane first; in a lane row after row, strand after strand.
  Layout in_lane_order(const Layout& blocks);
  std::vector<int> lane_order() const;
  /// Of this rank in that order.
  int position_in_lanes() const;

  int ranks_in_strand(int row, int lane) const;
  int ranks_in_lane(int lane) const;
  std::vector<Count> lengths_in_strand(const Layout& blocks, int row, int lane) const;
  /// Lengths of a lane's strands, one for each row.
  std::vector<Count> lengths_in_lane(const Layout& blocks, int lane) const;
  /// Lengths of the lanes, one for each rank of this row; surplus ranks have nothing.
  std::vector<Count> by_lane(const Layout& blocks) const;

  /// Lengths of the blocks of a row's ranks.
  std::vector<Count> lengths_in_row(const Layout& blocks, int row) const;
  /// Lengths of the rows' blocks together.
  std::vector<Count> by_row(const Layout& blocks) const;
  /// The blocks of a row in `all`, which holds those of all ranks in the order of the grid.
  Slice row_of(Slice all, const Layout& blocks, int row) const;
  /// Lengths when a vector is cut into a share for each lane, one for each rank of this row;
  /// surplus ranks have nothing.
  std::vector<Count> shares(Slice vector) const;

  const Grid grid;

 private:
  SubCollective in_row(const NestedSpec& spec) const { return {b_, grid.row_of(b_.rank()), spec}; }
  int lanes() const { return grid.shortest(); }
  Layout in_order(const Layout& blocks, std::span<const int> ranks);

  Builder& b_;
  const Composition& composition_;
  std::vector<Count> counts_, displs_;  // of in_order()
};

Count sum(std::span<const Count> lengths);

}  // namespace unisono
