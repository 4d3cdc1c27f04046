#include "node/groups.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace unisono::node {

namespace {

// Three ways of a line, one after the other, in place of one: with fewer ranks to a domain than
// this, everybody reads less than so many lines of other domains, at the same time.
constexpr int kLeastPerDomain = 4;

/// A leader reads a group and the other leaders: least where the two are equally many.
int largest_group(int size) { return size <= 64 ? 8 : kLargestGroup; }

}  // namespace

Groups::Groups(std::vector<int> group_of)
    : size_(static_cast<int>(group_of.size())), group_of_(std::move(group_of)) {
  for (int rank = 0; rank < size_; ++rank) {
    const auto group = static_cast<std::size_t>(of(rank));
    if (group >= sizes_.size()) {
      sizes_.resize(group + 1);
      leaders_.resize(group + 1);
    }
    if (sizes_[group] == 0) leaders_[group] = rank;
    place_of_.push_back(sizes_[group]++);
  }
}

int Groups::largest() const { return *std::max_element(sizes_.begin(), sizes_.end()); }

Groups suitable_groups(int size, std::span<const int> domains) {
  std::map<int, std::vector<int>> ranks_of;
  for (int rank = 0; rank < size; ++rank)
    ranks_of[domains.empty() ? 0 : domains[static_cast<std::size_t>(rank)]].push_back(rank);
  const int several = static_cast<int>(ranks_of.size());
  if (size <= kLargestGroup && (several == 1 || size < kLeastPerDomain * several)) return size;
  std::vector<int> group_of(static_cast<std::size_t>(size));
  int groups = 0;
  for (const auto& [domain, ranks] : ranks_of) {
    const int most = largest_group(size), count = static_cast<int>(ranks.size());
    const int parts = (count + most - 1) / most;  // as equal as can be
    for (int i = 0; i < count; ++i)
      group_of[static_cast<std::size_t>(ranks[static_cast<std::size_t>(i)])] =
          groups + i * parts / count;
    groups += parts;
  }
  return Groups(std::move(group_of));
}

}  // namespace unisono::node
