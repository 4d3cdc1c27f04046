#include "patterns/class_sums.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace unisono {

namespace {

/// One step on a ring of n: three classes modulo 3 stride become one modulo stride.
struct Step {
  int n;
  std::int64_t stride;

  int term(int x) const { return static_cast<int>(x / stride % 3); }
  /// The rank from which x takes the term of the sum that it makes; -1: nobody has it.
  int source(int x, int term) const {
    if (term == this->term(x)) return x;
    const std::int64_t wanted = x % stride + term * stride, period = 3 * stride;
    if (wanted >= n) return -1;
    const std::int64_t below = x - (((x - wanted) % period + period) % period);
    const std::int64_t last = wanted + (n - 1 - wanted) / period * period;
    std::int64_t best = -1, distance = n;
    for (const std::int64_t at : {below, below + period, wanted, last}) {
      if (at < 0 || at >= n) continue;
      const std::int64_t apart = std::abs(at - x), around = std::min(apart, n - apart);
      if (around < distance) best = at, distance = around;
    }
    return static_cast<int>(best);
  }
  /// Those that take the sum of x.
  std::vector<int> takers(int x) const {
    std::vector<int> found;
    const std::int64_t reach = std::min<std::int64_t>(3 * stride, n / 2);
    for (std::int64_t i = -reach; i <= reach; ++i) {
      const auto y = static_cast<int>(((x + i) % n + n) % n);
      if (i > -reach && y == ((x - reach) % n + n) % n) continue;  // n even: seen already
      if (y != x && source(y, term(x)) == x) found.push_back(y);
    }
    return found;
  }
};

std::vector<Step> steps_of(int n) {
  std::vector<Step> steps;
  for (std::int64_t stride = 1; stride < n; stride *= 3) steps.insert(steps.begin(), {n, stride});
  return steps;
}

}  // namespace

std::vector<WholeExchange> class_sums(const RankLattice& lattice, int rank, int first_dimension) {
  const Torus& points = lattice.points();
  const int point = lattice.point(rank), k = lattice.dimensions();
  std::vector<WholeExchange> result;
  for (std::size_t i = 0, found = 1; found > 0; ++i) {
    found = 0;
    for (int j = 0; j < k; ++j) {
      const int d = (first_dimension + j) % k;
      const auto steps = steps_of(points.size(d));
      if (i >= steps.size()) continue;
      ++found;
      const Step& step = steps[i];
      const int x = points.coordinate(point, d);
      const auto at = [&](int y) { return y < 0 ? -1 : lattice.rank(points.moved(point, d, y)); };
      WholeExchange& exchange = result.emplace_back();
      exchange.self = step.term(x);
      for (int term = 0; term < 3; ++term) exchange.from.push_back(at(step.source(x, term)));
      for (const int y : step.takers(x)) exchange.to.push_back(at(y));
    }
  }
  return result;
}

}  // namespace unisono
