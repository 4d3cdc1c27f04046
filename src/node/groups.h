// The ranks of a team in groups of ranks that are near to each other.
#pragma once
#include <span>
#include <vector>

namespace unisono::node {

/// So many ranks read a line one after the other.
inline constexpr int kLargestGroup = 16;

/// In a group ranks have places in the order of their numbers; the first one leads.
class Groups {
 public:
  /// One group.
  Groups(int size) : size_(size) {}
  /// group_of[r]: the groups of all ranks, by numbers from 0 without gaps; kLargestGroup in each at
  /// most.
  explicit Groups(std::vector<int> group_of);

  int size() const { return size_; }
  int count() const { return leaders_.empty() ? 1 : static_cast<int>(leaders_.size()); }
  bool are_one() const { return count() == 1; }

  // Where there are several.
  int of(int rank) const { return group_of_[static_cast<std::size_t>(rank)]; }
  int place_of(int rank) const { return place_of_[static_cast<std::size_t>(rank)]; }
  int leader(int group) const { return leaders_[static_cast<std::size_t>(group)]; }
  bool leads(int rank) const { return place_of(rank) == 0; }
  int size_of(int group) const { return sizes_[static_cast<std::size_t>(group)]; }
  int largest() const;

 private:
  int size_;
  std::vector<int> group_of_, place_of_;  // by rank
  std::vector<int> leaders_, sizes_;      // by group
};

/// domains[r]: any number that is the same for ranks that share a cache, such as an L3 cache or a
/// NUMA node; empty: nothing is known, or all do. One group up to 16 ranks of one domain; more are
/// cut into groups of 8, or of 16 where there are more than 64, none in two domains. A fact of
/// these arguments, so equal on all ranks if they are.
Groups suitable_groups(int size, std::span<const int> domains = {});

}  // namespace unisono::node
