// Ranks as a grid: rows of adjacent ranks, the last of which may be shorter, or any groups of them.
#pragma once
#include <array>
#include <span>

#include "patterns/rank_partition.h"
#include "schedule/schedule.h"

namespace unisono {

/// Rows stand one behind the other: position first(row) + column. Where rows are intervals of
/// ranks, a rank's position is its number.
class Grid {
 public:
  /// Rank row * width + column; 1 <= width <= size.
  Grid(int size, int width);
  /// Rows as given; the partition must live as long.
  explicit Grid(const RankPartition& rows) : given_(&rows), rows_(rows.groups()) {}

  int rows() const { return rows_; }
  /// Of the longest row.
  int width() const { return lengths().front(); }
  /// Of the shortest row.
  int shortest() const { return lengths().back(); }
  /// Rows of equal length.
  bool is_full() const { return lengths().size() == 1; }
  bool is_in_rank_order() const { return given_ == nullptr || given_->is_in_rank_order(); }
  /// Those that rows have, each once.
  std::span<const int> lengths() const;

  int row(int rank) const { return given_ ? given_->group_of(rank) : rank / width_; }
  int column(int rank) const { return given_ ? given_->place_of(rank) : rank % width_; }
  int rank(int row, int column) const { return rank_at(first(row) + column); }
  /// Ranks in a row.
  int length(int row) const;
  /// Ranks in the rows before.
  int first(int row) const { return given_ ? given_->before(row) : row * width_; }
  int position(int rank) const { return first(row(rank)) + column(rank); }
  int rank_at(int position) const { return given_ ? given_->rank_at(position) : position; }

  RankGroup row_of(int rank) const { return members(row(rank)); }
  RankGroup members(int row) const;
  /// One rank of each row: that in `column`, in a row that is too short for it the last. Of a full
  /// grid: the column.
  RankGroup leaders(int column) const;
  /// The column of a row's leader.
  int leader(int row, int column) const { return column < length(row) ? column : length(row) - 1; }

 private:
  const RankPartition* given_ = nullptr;
  int size_ = 0, width_ = 0, rows_ = 0;  // size and width where no rows are given
  std::array<int, 2> lengths_{};
};

}  // namespace unisono
