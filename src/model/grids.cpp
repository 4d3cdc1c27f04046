#include "model/grids.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace unisono {

namespace {

void extend(int rest, int dimensions_left, Shape& begun, std::vector<Shape>& found) {
  if (!begun.empty() && rest >= 2) {
    found.push_back(begun);
    found.back().push_back(rest);
  }
  if (dimensions_left <= 2) return;
  for (int factor = 2; factor <= rest / 2; ++factor) {
    if (rest % factor != 0) continue;
    begun.push_back(factor);
    extend(rest / factor, dimensions_left - 1, begun, found);
    begun.pop_back();
  }
}

bool has_balanced_factors(int ranks) {
  for (int a = static_cast<int>(std::sqrt(ranks)); a >= 2; --a)
    if (ranks % a == 0) return ranks / a <= 2 * a;
  return false;
}

}  // namespace

std::vector<Shape> factorisations(int ranks, int most_dimensions) {
  std::vector<Shape> found;
  Shape begun;
  extend(ranks, most_dimensions + 1, begun, found);
  // Few dimensions first.
  std::stable_sort(found.begin(), found.end(),
                   [](const Shape& a, const Shape& b) { return a.size() < b.size(); });
  return found;
}

std::vector<Shape> ragged_shapes(int ranks) {
  std::vector<Shape> found;
  if (ranks < 5 || has_balanced_factors(ranks)) return found;
  const double root = std::sqrt(ranks);
  const int least = std::max(2, static_cast<int>(root / std::numbers::sqrt2));
  const int most = static_cast<int>(std::ceil(root * std::numbers::sqrt2));
  for (int rows = least; rows <= most; ++rows) {
    const int columns = (ranks + rows - 1) / rows;
    if ((rows - 1) * columns < ranks && ranks < rows * columns) found.push_back({rows, columns});
  }
  return found;
}

}  // namespace unisono
