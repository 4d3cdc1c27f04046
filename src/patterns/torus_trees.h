// Constructions of spanning trees over hosts of a torus, one short file each. All are functions of
// the members and the root alone: every rank makes the same. Costs are of the whole forest, on all
// hosts; h: members, k: dimensions.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "patterns/torus_forest.h"

namespace unisono {

/// Trees for a broadcast (out), a reduction (in), or both at once: then `in` shares no link with
/// `out` either.
struct TorusTrees {
  TorusForest out, in;

  /// Those inwards behind those outwards, as kFirstNamedRoute numbers them.
  TorusForest all() const;
};
enum class TreesFor : std::uint8_t { broadcast, reduction, both };

enum class TreeKind : std::uint8_t { best, multicolour, box, raster, snake, greedy };
/// As users write them.
inline constexpr std::array<std::string_view, 6> kTreeKindNames = {"auto",   "2k",    "box",
                                                                   "raster", "snake", "greedy"};

/// `use`: what runs at once. Nothing where the construction does not apply to these members, or the
/// routing does not offer what it asks for. `root` is a member.
using MakeTrees = std::optional<TorusTrees>(const TorusMembers& members, int root, TreesFor use,
                                            Routing routing);

/// box_trees: multicolour_trees over links between the members alone: groups that are boxes beside
/// each other do not disturb each other. half_trees, half_box_trees: two messages on a link. These
/// and mended_trees are for both at once.
MakeTrees multicolour_trees, line_trees, mended_trees, half_trees, box_trees, half_box_trees,
    snake_trees, raster_trees, greedy_trees;

/// Whether every message goes to a neighbour: a route that Routing::adaptive keeps to as well.
bool only_neighbours(const TorusMembers& members, const TorusTrees& trees);

/// Of one kind, or, for `best`, of the kind with the most trees to the messages on its busiest
/// link, the shallower of two that are as good. Never nothing for `best`: one tree out, or in, that
/// shares no link there always is (raster_trees); both at once may meet, and where routes are
/// adaptive nobody knows.
std::optional<TorusTrees> make_trees(TreeKind kind, const TorusMembers& members, int root,
                                     TreesFor use, Routing routing);

}  // namespace unisono
