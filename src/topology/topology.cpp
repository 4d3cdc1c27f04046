#include "topology/topology.h"

#include <algorithm>
#include <map>
#include <utility>

namespace unisono {

std::optional<Level> level_named(std::string_view name) {
  const auto* at = std::find(kLevelNames.begin(), kLevelNames.end(), name);
  if (at == kLevelNames.end()) return std::nullopt;
  return static_cast<Level>(at - kLevelNames.begin());
}

TopologyLabels TopologyLabels::restricted_to(std::span<const int> ranks) const {
  TopologyLabels result;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    if (levels[level].empty()) continue;
    for (const int rank : ranks)
      result.levels[level].push_back(levels[level][static_cast<std::size_t>(rank)]);
  }
  result.torus = torus.restricted_to(ranks);
  return result;
}

namespace {

bool is_known(const std::vector<int>& labels) {
  return !labels.empty() &&
         std::find(labels.begin(), labels.end(), TopologyLabels::kNoLabel) == labels.end();
}

/// Labels of the groups that both partitions make.
std::vector<int> cut(const std::vector<int>& labels, const RankPartition& farther) {
  std::map<std::pair<int, int>, int> pieces;
  std::vector<int> result;
  for (int rank = 0; rank < farther.size(); ++rank) {
    const std::pair piece(farther.group_of(rank), labels[static_cast<std::size_t>(rank)]);
    result.push_back(pieces.try_emplace(piece, static_cast<int>(pieces.size())).first->second);
  }
  return result;
}

/// Of the first ranks of groups, if the others of each are on the same hosts; else nothing.
TorusHosts hosts_of(const RankPartition& groups, const TorusHosts& torus) {
  if (torus.torus == nullptr) return {};
  std::vector<int> first;
  for (int group = 0; group < groups.groups(); ++group) {
    first.push_back(groups.group(group).rank(0));
    for (const int rank : groups.group(group).ranks)
      if (torus.of_rank[static_cast<std::size_t>(rank)] !=
          torus.of_rank[static_cast<std::size_t>(first.back())])
        return {};
  }
  return torus.restricted_to(first);
}

}  // namespace

Topology::Topology(int size, const TopologyLabels& labels) : size_(size) {
  if (labels.torus.torus != nullptr) torus_ = std::make_unique<TorusPlacement>(labels.torus);
  const RankPartition* farther = nullptr;
  for (int i = kLevels - 1; i >= 0; --i) {
    const auto level = static_cast<std::size_t>(i);
    const std::vector<int>& own = labels.levels[level];
    if (!is_known(own)) continue;
    const RankPartition& partition =
        partitions_[level].emplace(farther == nullptr ? own : cut(own, *farther));
    TopologyLabels among_groups;
    for (std::size_t above = level + 1; above < partitions_.size(); ++above) {
      if (!partitions_[above]) continue;
      for (int group = 0; group < partition.groups(); ++group)
        among_groups.levels[above].push_back(
            partitions_[above]->group_of(partition.group(group).rank(0)));
    }
    among_groups.torus = hosts_of(partition, labels.torus);
    of_groups_[level] = std::make_unique<Topology>(partition.groups(), among_groups);
    farther = &partition;
  }
}

}  // namespace unisono
