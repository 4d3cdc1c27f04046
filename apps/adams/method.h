// The coefficients of the parallel Adams methods (van der Houwen, Messina, J. Comp. Appl. Math. 101
// (1999) 153-165).
#pragma once
#include <cstddef>
#include <vector>

namespace apps::adams {

/// A step from t to t + h computes k stages Y_i ~ y(t + a_i h), each from the last step's F_j =
/// f(Y_j) at the times t + b_j h, b_j = a_j - 1, and from none of the other new ones:
///
///   PAB   Y_i = y + h sum_j predictor_ij F_j
///   PAM   Y_i = y + h sum_j corrector_ij F_j + h implicit_i f(Y_i)
///
/// y is the last stage, a_k = 1: it is the solution at t. PABM solves PAM by so many `corrections`,
/// beginning with PAB's stages. The a_i are the Lobatto points of [1, 2], from 2 down to 1.
///
/// Order: PAB k + 1; PABM k + 2 (one correction is enough); k >= 4.
struct Method {
  std::size_t stages = 0;
  int corrections = 0;  ///< 0: PAB
  std::vector<double> abscissae;
  std::vector<double> predictor, corrector;  ///< k x k, row by row
  std::vector<double> implicit;
  std::vector<double> start;  ///< k x k: integrals from 0 to b_i, for the first stages

  std::size_t order() const { return stages + (corrections > 0 ? 2 : 1); }
};

/// The methods with 4 and 8 stages are stable with h |lambda| up to here, lambda negative real.
inline constexpr double kStableStep = 0.25;

/// Precondition: 4 <= stages <= 16.
Method parallel_adams(std::size_t stages, int corrections);

/// The nodes (ascending) and weights of Lobatto quadrature on [0, 1], exact up to degree
/// 2 n - 3. Precondition: n >= 2.
struct Quadrature {
  std::vector<double> nodes, weights;
};
Quadrature lobatto(std::size_t n);

}  // namespace apps::adams
