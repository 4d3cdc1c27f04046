#include "apps/adams/brusselator.h"

namespace apps::adams {

namespace {

constexpr double kAlpha = 0.002, kA = 1, kB = 3.4;
// Of the reactions, with u and v as large as they get.
constexpr double kReactionStiffness = 50;

}  // namespace

Brusselator::Brusselator(std::size_t grid)
    : grid_(grid), diffusion_(kAlpha * static_cast<double>((grid - 1) * (grid - 1))) {}

std::vector<double> Brusselator::initial() const {
  std::vector<double> y;
  y.reserve(size());
  const double width = 1.0 / static_cast<double>(grid_ - 1);
  for (std::size_t row = 0; row < grid_; ++row)
    for (std::size_t column = 0; column < grid_; ++column) {
      y.push_back(0.5 + static_cast<double>(row) * width);
      y.push_back(1 + 5 * static_cast<double>(column) * width);
    }
  return y;
}

void Brusselator::evaluate(const double* y, Range own, double* rates) const {
  for (std::size_t point = own.first; point < own.last; ++point) {
    const std::size_t row = point / grid_, column = point % grid_;
    // Beyond the border lies the mirror image.
    const std::size_t left = column > 0 ? point - 1 : point + 1;
    const std::size_t right = column + 1 < grid_ ? point + 1 : point - 1;
    const std::size_t below = row > 0 ? point - grid_ : point + grid_;
    const std::size_t above = row + 1 < grid_ ? point + grid_ : point - grid_;
    const auto laplace = [&](std::size_t species) {
      return y[2 * left + species] + y[2 * right + species] + y[2 * below + species] +
             y[2 * above + species] - 4 * y[2 * point + species];
    };
    const double u = y[2 * point], v = y[2 * point + 1], uuv = u * u * v;
    *rates++ = kA + uuv - (kB + 1) * u + diffusion_ * laplace(0);
    *rates++ = kB * u - uuv + diffusion_ * laplace(1);
  }
}

double Brusselator::stiffness() const { return 8 * diffusion_ + kReactionStiffness; }

}  // namespace apps::adams
