// Ranks as a grid: rows of adjacent ranks, the last of which may be shorter.
#pragma once
#include "schedule/schedule.h"

namespace unisono {

/// Some of the ranks, in rank order: a lattice, except that the last member may stand elsewhere.
struct Group {
  Lattice lattice;
  int last = -1;  ///< the rank of the last member; -1: as the lattice says

  int size() const { return lattice.size; }
  int rank(int i) const { return last >= 0 && i == lattice.size - 1 ? last : lattice.rank(i); }
};

/// Position (row, column) is rank row * width + column. 1 <= width <= size.
class Grid {
 public:
  Grid(int size, int width) : size_(size), width_(width), rows_((size + width - 1) / width) {}

  int rows() const { return rows_; }
  int width() const { return width_; }
  bool is_full() const { return rows_ * width_ == size_; }
  int row(int rank) const { return rank / width_; }
  int column(int rank) const { return rank % width_; }
  /// Ranks in a row.
  int length(int row) const { return row + 1 < rows_ ? width_ : size_ - row * width_; }
  int first(int row) const { return row * width_; }

  Group row_of(int rank) const { return {{first(row(rank)), 1, length(row(rank))}}; }
  /// Of a full grid.
  Group column_of(int rank) const { return {{column(rank), width_, rows_}}; }
  /// One rank of each row: that in `column`, in a row that is too short for it the last.
  Group leaders(int column) const;
  /// The column of a row's leader.
  int leader(int row, int column) const { return column < length(row) ? column : length(row) - 1; }

 private:
  int size_, width_, rows_;
};

}  // namespace unisono
