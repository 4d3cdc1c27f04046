// Which grids of ranks are worth trying.
#pragma once
#include <vector>

namespace unisono {

using Shape = std::vector<int>;  ///< rows, columns (and planes); row-major, columns adjacent

/// All ordered factorisations of `ranks` into 2 to `most_dimensions` factors of at least 2.
std::vector<Shape> factorisations(int ranks, int most_dimensions);

/// R x C near the square with (R - 1) C < ranks < R C: the last row is not full. Only for numbers
/// of ranks without a balanced factorisation (two factors with a ratio of 2 at most); else empty.
std::vector<Shape> ragged_shapes(int ranks);

}  // namespace unisono
