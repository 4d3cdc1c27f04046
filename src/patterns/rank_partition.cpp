#include "patterns/rank_partition.h"

#include <algorithm>
#include <functional>
#include <map>

namespace unisono {

RankPartition::RankPartition(std::span<const int> label_of_rank) {
  std::map<int, int> group_labelled;
  for (int rank = 0; rank < static_cast<int>(label_of_rank.size()); ++rank) {
    const int label = label_of_rank[static_cast<std::size_t>(rank)];
    const auto [known, added] = group_labelled.try_emplace(label, groups());
    if (added) groups_.emplace_back();
    RankGroup& group = groups_[static_cast<std::size_t>(known->second)];
    group_of_.push_back(known->second);
    place_of_.push_back(group.size());
    group.ranks.push_back(rank);
  }
  for (const RankGroup& group : groups_) {
    before_.push_back(static_cast<int>(order_.size()));
    order_.insert(order_.end(), group.ranks.begin(), group.ranks.end());
    lengths_.push_back(group.size());
  }
  in_rank_order_ = std::is_sorted(order_.begin(), order_.end());
  std::sort(lengths_.begin(), lengths_.end(), std::greater<>());
  lengths_.erase(std::unique(lengths_.begin(), lengths_.end()), lengths_.end());
}

}  // namespace unisono
