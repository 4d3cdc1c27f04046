#include "model/price.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "schedule/semantics.h"

namespace unisono {

namespace {

constexpr Count kElementBytes = 4;

std::optional<double> walk(const Algorithm& algorithm, const Params& params, const PricedCall& call,
                           const Machine& machine) {
  Problem problem = problem_of(call);
  problem.params = params;
  const Conditions conditions{problem.size, problem.commutative};
  if (unmet_restriction(algorithm, conditions, params)) return std::nullopt;
  const auto seconds =
      predict(algorithm, problem, machine, block_placement(call.ranks, call.nodes));
  return seconds ? std::optional(*seconds) : std::nullopt;
}

/// The same call on fewer nodes, with as many ranks on each as are walked through quickly. A vector
/// keeps its length, and so does a block; all blocks of a vector that is cut stay as long together.
PricedCall on(const PricedCall& call, int nodes, int most) {
  PricedCall smaller = call;
  smaller.nodes = nodes;
  smaller.ranks = nodes * std::clamp(call.ranks / call.nodes, 1, kMostWalkedRanks / most);
  smaller.root = std::min(call.root, smaller.ranks - 1);
  return smaller;
}

/// a + b log2(n) + c n through the values at m, 2 m and 4 m.
double continued(double m, const std::array<double, 3>& at, double n) {
  const double c = (at[2] - 2 * at[1] + at[0]) / m;
  const double b = at[1] - at[0] - c * m;
  return at[2] + b * std::log2(n / (4 * m)) + c * (n - 4 * m);
}

}  // namespace

Problem problem_of(const PricedCall& call) {
  Problem problem{.collective = call.collective,
                  .size = call.ranks,
                  .root = call.root,
                  .commutative = call.commutative};
  if (is_reducing(call.collective)) problem.unit_bytes = kElementBytes;
  const bool all_blocks = semantics(call.collective).measure == Measure::blocks;
  const Count bytes = all_blocks ? call.bytes / call.ranks : call.bytes;
  // At least a unit, of each block too: nothing would be sent otherwise.
  if (call.bytes > 0) problem.count = std::max<Count>(1, bytes / problem.unit_bytes);
  if (is_irregular(call.collective)) {
    const auto ranks = static_cast<std::size_t>(call.ranks);
    const bool matrix = has_matrix(semantics(call.collective));
    problem.counts.assign(matrix ? ranks * ranks : ranks, problem.count);
  }
  return problem;
}

std::optional<double> price(const Algorithm& algorithm, const Params& params,
                            const PricedCall& call, const Machine& machine) {
  if ((algorithm.restrictions & (kOneNode | kComposed)) != 0 ||
      params.transport == TransportKind::shm)
    return std::nullopt;
  if (call.ranks <= kMostWalkedRanks) return walk(algorithm, params, call, machine);
  if (call.nodes < 4) return std::nullopt;
  const int least = std::min(call.nodes / 4, kMostWalkedRanks / 4);
  std::array<double, 3> at{};
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto seconds = walk(algorithm, params, on(call, least << i, 4 * least), machine);
    if (!seconds) return std::nullopt;
    at[i] = *seconds;
  }
  return std::max(at[2] / 4, continued(least, at, call.nodes));
}

}  // namespace unisono
