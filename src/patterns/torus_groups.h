// Members of a torus in the order of some dimensions, and those that share coordinates.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "patterns/torus_forest.h"

namespace unisono {

/// Lexicographically by the coordinates in all dimensions, `order[0]` first.
inline std::vector<int> sorted_members(const TorusMembers& members, std::span<const int> order) {
  std::vector<std::pair<std::int64_t, int>> places;
  for (int member = 0; member < members.size(); ++member) {
    std::int64_t place = 0;
    for (const int d : order)
      place = place * members.torus().size(d) + members.torus().coordinate(members.host(member), d);
    places.emplace_back(place, member);
  }
  std::sort(places.begin(), places.end());
  std::vector<int> sorted;
  for (const auto& [unused, member] : places) sorted.push_back(member);
  return sorted;
}

/// Runs of the same coordinate.
inline std::vector<std::span<const int>> groups_of(const TorusMembers& members,
                                                   std::span<const int> sorted, int dimension) {
  const auto coordinate = [&](int member) {
    return members.torus().coordinate(members.host(member), dimension);
  };
  std::vector<std::span<const int>> groups;
  std::size_t first = 0;
  for (std::size_t i = 1; i <= sorted.size(); ++i) {
    if (i < sorted.size() && coordinate(sorted[i]) == coordinate(sorted[first])) continue;
    groups.push_back(sorted.subspan(first, i - first));
    first = i;
  }
  return groups;
}

}  // namespace unisono
