// The collectives of MPI, by name and in sets; what each means is in semantics.h.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "schedule/semantics.h"

namespace unisono {

/// Names in the order of the enumerators, as users write them: "reduce_scatter_block".
inline constexpr auto kCollectiveNames = [] {
  std::array<std::string_view, kCollectives> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kSemantics[i].name;
  return names;
}();

constexpr std::string_view name(Collective c) { return semantics(c).name; }

std::optional<Collective> collective_named(std::string_view name);

/// One bit per collective, for catalogue rows that serve several (allgather and allgatherv).
using CollectiveSet = std::uint32_t;
static_assert(kCollectives < 32, "a bit each, and one more: interpose/dispatch.h");
constexpr CollectiveSet set_of(Collective c) { return 1U << static_cast<unsigned>(c); }
template <class... C>
constexpr CollectiveSet set_of(Collective first, C... rest) {
  return (set_of(first) | ... | set_of(rest));
}
constexpr bool contains(CollectiveSet set, Collective c) { return (set & set_of(c)) != 0; }

/// Those whose rows are such.
template <class Is>
constexpr CollectiveSet set_where(Is is) {
  CollectiveSet set = 0;
  for (const Semantics& row : kSemantics)
    if (is(row)) set |= set_of(row.collective);
  return set;
}

inline constexpr CollectiveSet kRooted = set_where([](const auto& row) { return row.rooted; });
inline constexpr CollectiveSet kReducing =
    set_where([](const auto& row) { return row.is_reducing(); });
/// Collectives whose blocks may differ in length.
inline constexpr CollectiveSet kIrregular =
    set_where([](const auto& row) { return row.regular != row.collective; });
/// Those among all ranks of a communicator, and those with the neighbours of its topology.
inline constexpr CollectiveSet kAmongAll =
    set_where([](const auto& row) { return row.peers == Peers::all; });
inline constexpr CollectiveSet kAmongNeighbours =
    set_where([](const auto& row) { return row.peers == Peers::neighbours; });

inline constexpr CollectiveSet kEveryCollective = kAmongAll | kAmongNeighbours;

constexpr bool is_rooted(Collective c) { return contains(kRooted, c); }
constexpr bool is_reducing(Collective c) { return contains(kReducing, c); }
constexpr bool is_irregular(Collective c) { return contains(kIrregular, c); }
constexpr bool is_among_neighbours(Collective c) { return contains(kAmongNeighbours, c); }

}  // namespace unisono
