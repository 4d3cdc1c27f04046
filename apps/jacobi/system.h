// A dense linear system for the Jacobi iteration, and the iteration on one processor.
#pragma once
#include <cstddef>
#include <vector>

namespace apps::jacobi {

/// A x = b with n rows, the same everywhere: every entry is computed from its place. Strictly
/// diagonally dominant: 0 < a_ij < 1 off the diagonal, a_ii = n, so that an iteration about halves
/// the error.
class System {
 public:
  explicit System(std::size_t rows) : rows_(rows) {}

  std::size_t rows() const { return rows_; }
  double diagonal() const { return static_cast<double>(rows_); }
  /// a_ij, and 0 for i == j: the iteration treats the diagonal apart.
  double off_diagonal(std::size_t row, std::size_t column) const;
  double right_side(std::size_t row) const;
  /// x_i of the next iteration, where `sum` is that of a_ij x_j over j != i.
  double next(std::size_t row, double sum) const { return (right_side(row) - sum) / diagonal(); }

 private:
  std::size_t rows_;
};

/// x after so many iterations that begin with 0.
std::vector<double> solve_serially(const System& system, int iterations);

}  // namespace apps::jacobi
