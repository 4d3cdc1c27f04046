#include "apps/jacobi/system.h"

#include <cstdint>

namespace apps::jacobi {

namespace {

/// In (0, 1), from the mixing function of SplitMix64 (Steele, Lea, Flood 2014).
double random_number(std::uint64_t place) {
  std::uint64_t z = (place + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  z ^= z >> 31;
  return (static_cast<double>(z >> 12) + 0.5) * 0x1p-52;
}

}  // namespace

double System::off_diagonal(std::size_t row, std::size_t column) const {
  return row == column ? 0 : random_number(row * rows_ + column);
}

double System::right_side(std::size_t row) const {
  return diagonal() * random_number(rows_ * rows_ + row);
}

std::vector<double> solve_serially(const System& system, int iterations) {
  const std::size_t n = system.rows();
  std::vector<double> matrix(n * n), x(n, 0.0), next(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) matrix[i * n + j] = system.off_diagonal(i, j);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += matrix[i * n + j] * x[j];
      next[i] = system.next(i, sum);
    }
    x.swap(next);
  }
  return x;
}

}  // namespace apps::jacobi
