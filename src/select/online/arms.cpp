#include "select/online/arms.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <string_view>

namespace unisono {

namespace {

using enum Collective;

constexpr Count kAny = std::numeric_limits<Count>::max();
// The root's schedule has p - 1 sends for every segment, of which as many run as there are
// segments.
constexpr Count kMostUnrolled = Count{1} << 20;

/// The most promising first: the list is cut off after kMostArms. By the measurements in
/// docs/results (lab.md, defaults.md, orthogonal.md) and, for arrival patterns, by Faraj, Patarasuk
/// and Yuan 2008, section 7.
struct Candidate {
  CollectiveSet collectives;
  Count least_bytes, most_bytes;
  std::string_view spec;
};

constexpr Candidate kCandidates[] = {
    {kEveryCollective, 0, kAny, "shm"},

    {set_of(bcast, reduce, allreduce, allgather, reduce_scatter, reduce_scatter_block), 65536, kAny,
     "torus"},

    {set_of(barrier), 0, kAny, "dissemination"},
    {set_of(barrier), 0, kAny, "tree"},

    {set_of(bcast), 16384, kAny, "circulant"},
    {set_of(bcast), 65536, kAny, "chain:segment=16K"},
    {set_of(bcast), 8192, 262143, "chain:segment=4K"},
    {set_of(bcast), 0, 65535, "binomial"},
    {set_of(bcast), 65536, kAny, "sorted"},
    {set_of(bcast), 65536, kMostUnrolled, "arrival_chain"},
    {set_of(bcast), 0, 65535, "knomial"},
    {set_of(bcast), 0, kAny, "flat"},
    {set_of(bcast), 8192, kAny, "scatter_allgather"},

    {set_of(gather), 0, kAny, "binomial"},
    {set_of(gather), 0, 65535, "knomial"},
    {set_of(gather, gatherv), 0, kAny, "flat"},
    {set_of(gather, gatherv), 0, kAny, "paced"},
    {set_of(scatter), 0, kAny, "binomial"},
    {set_of(scatter), 0, 65535, "knomial"},
    {set_of(scatter, scatterv), 0, kAny, "flat"},
    {set_of(scatter, scatterv), 0, kAny, "paced"},

    {set_of(allgather, allgatherv), 0, kAny, "circulant"},
    {set_of(allgather, allgatherv), 1024, kAny, "ring"},
    {set_of(allgather, allgatherv), 0, 262143, "bruck"},
    {set_of(allgather, allgatherv), 0, kAny, "recursive_doubling"},
    {set_of(allgather, allgatherv), 1024, kAny, "straggler"},
    {set_of(allgather, allgatherv), 1024, kAny, "neighbour_exchange"},
    {set_of(allgather, allgatherv), 0, 16383, "gather_bcast"},

    {set_of(alltoall), 0, 2047, "bruck"},
    {set_of(alltoall, alltoallv, alltoallw), 0, kAny, "simple"},
    {set_of(alltoall, alltoallv, alltoallw), 4096, kAny, "credits"},
    {set_of(alltoall, alltoallv, alltoallw), 0, kAny, "pair_light_barrier"},
    {set_of(alltoall, alltoallv, alltoallw), 0, kAny, "ring_light_barrier"},
    {set_of(alltoall, alltoallv, alltoallw), 0, kAny, "pair_barrier"},
    {set_of(alltoall, alltoallv, alltoallw), 0, kAny, "pair"},
    {set_of(alltoall, alltoallv, alltoallw), 0, kAny, "ring_barrier"},
    {set_of(alltoall, alltoallv, alltoallw), 0, kAny, "ring"},
    {set_of(alltoall, alltoallv, alltoallw), 0, kAny, "spread_out"},

    {set_of(reduce), 0, kAny, "binomial"},
    {set_of(reduce), 32768, kAny, "chain"},
    {set_of(reduce), 16384, kAny, "circulant"},
    {set_of(reduce), 65536, kAny, "sorted"},
    {set_of(reduce), 8192, kAny, "reduce_scatter_gather"},
    {set_of(reduce), 0, 65535, "knomial"},
    {set_of(reduce), 0, kAny, "flat"},

    {set_of(allreduce), 0, 262143, "recursive_doubling"},
    {set_of(allreduce), 1024, kAny, "circulant"},
    {set_of(allreduce), 16384, kAny, "straggler"},
    {set_of(allreduce), 4096, kAny, "rabenseifner"},
    {set_of(allreduce), 65536, kAny, "ring"},
    {set_of(allreduce), 65536, kAny, "sorted"},
    {set_of(allreduce), 0, kAny, "reduce_bcast"},

    {set_of(reduce_scatter, reduce_scatter_block), 0, kAny, "circulant"},
    {set_of(reduce_scatter, reduce_scatter_block), 0, kAny, "recursive_halving"},
    {set_of(reduce_scatter, reduce_scatter_block), 0, kAny, "pairwise"},
    {set_of(reduce_scatter, reduce_scatter_block), 65536, kAny, "ring"},

    {set_of(scan, exscan), 0, kAny, "recursive_doubling"},
    {set_of(scan, exscan), 32768, kAny, "chain"},
    {set_of(scan, exscan), 0, kAny, "linear"},

    {kAmongNeighbours, 0, kAny, "linear:transport=shm"},
    {kAmongNeighbours, 0, kAny, "nodes"},
    {kAmongNeighbours, 0, kAny, "rows"},
    {kAmongNeighbours, 0, kAny, "linear"},
};

}  // namespace

std::vector<Spec> online_arms(const Facts& facts, const Choice& by_default) {
  std::vector<Spec> arms(1);
  const auto offer = [&](const Spec& spec) {
    const bool known = std::any_of(arms.begin(), arms.end(),
                                   [&](const Spec& arm) { return text(arm) == text(spec); });
    if (!known && arms.size() < kMostArms &&
        !unmet_restriction(*spec.algorithm, conditions(facts), spec.params))
      arms.push_back(spec);
  };
  if (by_default.algorithm != nullptr) offer({by_default.algorithm, false, by_default.params});
  for (const Candidate& candidate : kCandidates) {
    if (!contains(candidate.collectives, facts.collective) || facts.bytes < candidate.least_bytes ||
        facts.bytes > candidate.most_bytes)
      continue;
    const auto spec = parse_spec(facts.collective, candidate.spec);
    assert(spec && "a candidate names no algorithm");
    offer(*spec);
  }
  return arms;
}

}  // namespace unisono
