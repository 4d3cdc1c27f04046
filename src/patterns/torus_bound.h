// How many trees any construction can have: what links at the members allow.
#pragma once
#include "patterns/torus_trees.h"

namespace unisono {

/// An upper bound of the trees that share no link; for both at once, of each. The root sends on so
/// many different links, and every other member receives on so many, as routes begin and end with;
/// and every tree takes a link a member. O(hosts k + h n k).
int port_bound(const TorusMembers& members, int root, TreesFor use, Routing routing);

}  // namespace unisono
