// The ranks in disjoint groups, wherever each stands: nodes, switches, rows of a grid.
#pragma once
#include <span>
#include <vector>

#include "schedule/schedule.h"

namespace unisono {

/// Groups stand in the order of their first ranks, members in rank order. Every question is O(1).
class RankPartition {
 public:
  /// label_of_rank[r]: any number, the same for the ranks of one group. O(p log p).
  explicit RankPartition(std::span<const int> label_of_rank);

  int size() const { return static_cast<int>(group_of_.size()); }
  int groups() const { return static_cast<int>(groups_.size()); }
  const RankGroup& group(int i) const { return groups_[static_cast<std::size_t>(i)]; }
  int group_of(int rank) const { return group_of_[static_cast<std::size_t>(rank)]; }
  std::span<const int> group_of_ranks() const { return group_of_; }
  /// Which member of its group the rank is.
  int place_of(int rank) const { return place_of_[static_cast<std::size_t>(rank)]; }
  /// Ranks in the groups before group i.
  int before(int i) const { return before_[static_cast<std::size_t>(i)]; }
  /// The rank at a position when the groups stand one behind the other.
  int rank_at(int position) const { return order_[static_cast<std::size_t>(position)]; }

  /// Lengths of groups, each once, the longest first.
  std::span<const int> lengths() const { return lengths_; }
  bool is_even() const { return lengths_.size() == 1; }
  /// Every group is an interval of ranks.
  bool is_in_rank_order() const { return in_rank_order_; }

 private:
  std::vector<RankGroup> groups_;
  std::vector<int> group_of_, place_of_;  // by rank
  std::vector<int> before_;               // by group
  std::vector<int> order_;                // by position
  std::vector<int> lengths_;
  bool in_rank_order_ = true;
};

}  // namespace unisono
