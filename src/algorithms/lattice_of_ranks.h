// Where the ranks of a call stand on a torus, for algorithms that want a rank at every point of
// one.
#pragma once
#include "patterns/rank_lattice.h"
#include "schedule/args.h"

namespace unisono {

/// The torus, if it is known and there is one rank on each host whose coordinates are all of
/// certain sets, A1 x ... x Ak; dimensions with a single coordinate are left out. Else a ring: of
/// the ranks in the order of their hosts, or in rank order.
RankLattice lattice_of_ranks(const Args& args);

}  // namespace unisono
