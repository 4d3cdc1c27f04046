// The graphs of all ranks as one, their ops numbered through, rank after rank.
#pragma once
#include <span>
#include <vector>

#include "schedule/schedule.h"

namespace unisono {

using VertexId = std::uint32_t;
inline constexpr VertexId kNoNode = ~VertexId{0};

/// Built in time and memory linear in ops, dependencies and ranks. Peers that are to be bound (see
/// resolve()) match nobody.
struct Graph {
  explicit Graph(std::span<const Schedule> schedules);

  std::size_t size() const { return ops.size(); }
  std::span<const VertexId> followers_of(VertexId id) const {
    return {followers.data() + first_follower[id], first_follower[id + 1] - first_follower[id]};
  }
  /// Its position in its rank's program.
  OpId position(VertexId id) const { return id - first[static_cast<std::size_t>(rank[id])]; }

  std::vector<Op> ops;
  std::vector<int> rank;
  std::vector<VertexId> first;           ///< of each rank
  std::vector<std::uint32_t> waits_for;  ///< how many ops
  std::vector<VertexId> receive;         ///< that matches a send; kNoNode: none, or no send

 private:
  void add_followers(std::span<const Schedule> schedules);
  void match();

  std::vector<std::uint32_t> first_follower;
  std::vector<VertexId> followers;
};

}  // namespace unisono
