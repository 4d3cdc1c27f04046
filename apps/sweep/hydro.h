// Ideal compressible flow on a periodic n x n grid by 1-D sweeps along rows, with a transpose
// between those along x and along y, as VH-1 does. Each rank has rows.
#pragma once
#include <array>
#include <functional>
#include <vector>

#include "apps/common/transpose.h"

namespace apps::sweep {

/// Conserved quantities of a cell: density, momentum along the sweep, momentum across, energy.
using Cell = std::array<double, 4>;

/// The largest value of all ranks.
using Largest = std::function<double(double)>;

class Flow {
 public:
  /// A blast in a shear flow. The team shares n.
  Flow(std::size_t n, const Team& team, Largest largest);
  /// A step in time: sweep along x, transpose, sweep along y, transpose.
  void step();
  /// This rank's rows.
  const std::vector<Cell>& cells() const { return cells_; }
  std::size_t block_bytes() const { return transpose_.block_bytes(); }

 private:
  double largest_speed() const;
  void sweep(double ratio);
  void turn();

  std::size_t n_;
  Largest largest_;
  Transpose<Cell> transpose_;
  std::vector<Cell> cells_;
  std::vector<Cell> primitive_, left_, right_, flux_;  // of one row
};

std::vector<Cell> solve_serially(std::size_t n, int steps);

/// All mass, and all energy: what no step changes.
std::array<double, 2> totals(const std::vector<Cell>& cells);

}  // namespace apps::sweep
