#include "algorithms/lattice_of_ranks.h"

#include <utility>
#include <vector>

#include "topology/topology.h"

namespace unisono {

RankLattice lattice_of_ranks(const Args& args) {
  const TorusPlacement* torus = args.topology != nullptr && args.topology->size() == args.size
                                    ? args.topology->torus()
                                    : nullptr;
  if (torus == nullptr) return RankLattice(Torus({args.size}));
  const TorusMembers& members = torus->members();
  std::vector<int> ranks;
  for (int i = 0; i < members.size(); ++i) {
    const RankGroup& here = torus->ranks_on(i);
    ranks.insert(ranks.end(), here.ranks.begin(), here.ranks.end());
  }
  // Hosts have numbers: if they are such a product, they stand as the points of a torus do.
  std::vector<int> sizes;
  for (const auto& coordinates : coordinates_of(members))
    if (coordinates.size() > 1) sizes.push_back(static_cast<int>(coordinates.size()));
  std::int64_t points = 1;
  for (const int size : sizes) points *= size;
  if (points != args.size || members.size() != args.size || sizes.empty()) sizes = {args.size};
  return RankLattice(Torus(std::move(sizes)), std::move(ranks));
}

}  // namespace unisono
