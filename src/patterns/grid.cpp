#include "patterns/grid.h"

namespace unisono {

Grid::Grid(int size, int width)
    : size_(size),
      width_(width),
      rows_((size + width - 1) / width),
      lengths_{width, size - (rows_ - 1) * width} {}

std::span<const int> Grid::lengths() const {
  if (given_ != nullptr) return given_->lengths();
  return std::span(lengths_).first(lengths_[0] == lengths_[1] ? 1 : 2);
}

int Grid::length(int row) const {
  if (given_ != nullptr) return given_->group(row).size();
  return row + 1 < rows_ ? width_ : size_ - row * width_;
}

RankGroup Grid::members(int row) const {
  if (given_ != nullptr) return given_->group(row);
  RankGroup group;
  for (int column = 0; column < length(row); ++column) group.ranks.push_back(rank(row, column));
  return group;
}

RankGroup Grid::leaders(int column) const {
  RankGroup group;
  for (int row = 0; row < rows_; ++row) group.ranks.push_back(rank(row, leader(row, column)));
  return group;
}

}  // namespace unisono
