// Ranks at the points of a ring or torus, for algorithms that go through its dimensions in turn.
#pragma once
#include <cassert>
#include <utility>
#include <vector>

#include "patterns/torus.h"

namespace unisono {

/// One rank at each point. Points are counted as a torus counts its hosts.
class RankLattice {
 public:
  /// `rank_at`: by point; none: rank i is at point i.
  explicit RankLattice(Torus points, std::vector<int> rank_at = {})
      : points_(std::move(points)), rank_at_(std::move(rank_at)), point_of_(rank_at_.size()) {
    assert(rank_at_.empty() || std::ssize(rank_at_) == points_.hosts());
    for (std::size_t i = 0; i < rank_at_.size(); ++i)
      point_of_[static_cast<std::size_t>(rank_at_[i])] = static_cast<int>(i);
  }

  const Torus& points() const { return points_; }
  int dimensions() const { return points_.dimensions(); }
  int rank(int point) const {
    return rank_at_.empty() ? point : rank_at_[static_cast<std::size_t>(point)];
  }
  int point(int rank) const {
    return point_of_.empty() ? rank : point_of_[static_cast<std::size_t>(rank)];
  }

 private:
  Torus points_;
  std::vector<int> rank_at_, point_of_;
};

}  // namespace unisono
