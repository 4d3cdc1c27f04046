// Which ranks are near to each other, level by level: pure data, equal on all ranks of a job. The
// runtime finds it out (comm/job_topology.h) and gives it to algorithms in Args.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "patterns/rank_partition.h"
#include "topology/torus_placement.h"

namespace unisono {

/// What ranks may share, from near to far.
enum class Level : std::uint8_t { core, cache, numa, node, network_switch };
inline constexpr int kLevels = 5;
/// As users write them.
inline constexpr std::array<std::string_view, kLevels> kLevelNames = {"cores", "caches", "numa",
                                                                      "nodes", "switches"};

std::optional<Level> level_named(std::string_view name);

/// For every level and rank a number: ranks that share one there have the same. A level without
/// numbers, or with kNoLabel for some rank, is not known.
struct TopologyLabels {
  static constexpr int kNoLabel = -1;

  std::vector<int>& at(Level level) { return levels[static_cast<std::size_t>(level)]; }
  const std::vector<int>& at(Level level) const { return levels[static_cast<std::size_t>(level)]; }
  /// Of these ranks only, in this order.
  TopologyLabels restricted_to(std::span<const int> ranks) const;

  std::array<std::vector<int>, kLevels> levels;
  TorusHosts torus;
};

class Topology {
 public:
  /// A group never reaches over the border of a farther level: a cache that two NUMA nodes share
  /// counts as two.
  Topology(int size, const TopologyLabels& labels);
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  int size() const { return size_; }
  /// The ranks by groups of this level; null: not known.
  const RankPartition* at(Level level) const {
    const auto& partition = partitions_[static_cast<std::size_t>(level)];
    return partition ? &*partition : nullptr;
  }
  /// Null: they are on no torus that is known.
  const TorusPlacement* torus() const { return torus_.get(); }
  /// The topology in which group i of this level is rank i, whichever member stands for it: only
  /// farther levels are left. Precondition: at(level).
  const Topology& of_groups(Level level) const {
    return *of_groups_[static_cast<std::size_t>(level)];
  }

 private:
  int size_;
  std::array<std::optional<RankPartition>, kLevels> partitions_;
  std::array<std::unique_ptr<const Topology>, kLevels> of_groups_;
  std::unique_ptr<const TorusPlacement> torus_;
};

}  // namespace unisono
