// The two-dimensional Brusselator, a reaction-diffusion equation, discretised in space.
#pragma once
#include <cstddef>
#include <vector>

#include "apps/common/share.h"

namespace apps::adams {

/// On N x N points of the unit square, no flux through its border, alpha = 0.002 (Hairer, Norsett,
/// Wanner, Solving Ordinary Differential Equations I, II.10):
///
///   u' = 1 + u^2 v - 4.4 u + alpha Laplace(u),  u(0, x, y) = 0.5 + y
///   v' = 3.4 u - u^2 v + alpha Laplace(v),      v(0, x, y) = 1 + 5 x
///
/// The vector holds u and v of a point side by side, points row by row.
class Brusselator {
 public:
  /// Precondition: grid >= 2.
  explicit Brusselator(std::size_t grid);

  std::size_t points() const { return grid_ * grid_; }
  /// The number of equations.
  std::size_t size() const { return 2 * points(); }
  std::vector<double> initial() const;
  /// rates = f(y), only the part of `own`, from all of y; 2 own.count() numbers.
  void evaluate(const double* y, Range own, double* rates) const;
  /// A bound of the largest eigenvalue of f's Jacobian near the solution.
  double stiffness() const;

 private:
  std::size_t grid_;
  double diffusion_;  // alpha / (mesh width)^2
};

}  // namespace apps::adams
