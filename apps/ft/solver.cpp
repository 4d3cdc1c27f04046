#include "apps/ft/solver.h"

#include <cmath>
#include <numbers>

#include "apps/common/random.h"

namespace apps::ft {

namespace {

constexpr double kAlpha = 1e-6;
constexpr std::size_t kSamples = 1024;  // in a checksum

/// The square of the frequency at index i: 0, 1, .., n/2 - 1, -n/2, .., -1.
double frequency_squared(std::size_t i, std::size_t n) {
  const double k = static_cast<double>(i) - static_cast<double>(i >= n / 2 && n > 1 ? n : 0);
  return k * k;
}

}  // namespace

Solver::Solver(const Box& box, const Team& team)
    : box_(box),
      team_(team),
      along_x_(box.x),
      along_y_(box.y),
      along_z_(box.z),
      to_spectrum_(box.z, box.x * box.y, team),
      from_spectrum_(box.x * box.y, box.z, team),
      values_(box.points() / team.size),
      spectrum_(values_.size()),
      decayed_(values_.size()),
      decay_(values_.size()) {
  NasRandom random(2 * team.rank * values_.size());
  for (Complex& value : values_) {
    const double re = random.next();
    value = {re, random.next()};
  }
  prepare_decay();
  transform_planes(1);
  to_spectrum_(values_.data(), spectrum_.data());
  transform_columns(spectrum_, 1);
}

void Solver::prepare_decay() {
  const std::size_t columns = box_.x * box_.y / team_.size;
  for (std::size_t own = 0; own < columns; ++own) {
    const std::size_t yx = team_.rank * columns + own;
    const double plane =
        frequency_squared(yx % box_.x, box_.x) + frequency_squared(yx / box_.x, box_.y);
    for (std::size_t z = 0; z < box_.z; ++z)
      decay_[own * box_.z + z] = std::exp(-4 * kAlpha * std::numbers::pi * std::numbers::pi *
                                          (plane + frequency_squared(z, box_.z)));
  }
}

void Solver::transform_planes(int sign) {
  std::vector<Complex> column(box_.y);
  for (std::size_t at = 0; at < values_.size(); at += box_.x * box_.y) {
    Complex* plane = &values_[at];
    for (std::size_t y = 0; y < box_.y; ++y) along_x_(plane + y * box_.x, sign);
    for (std::size_t x = 0; x < box_.x; ++x) {
      for (std::size_t y = 0; y < box_.y; ++y) column[y] = plane[y * box_.x + x];
      along_y_(column.data(), sign);
      for (std::size_t y = 0; y < box_.y; ++y) plane[y * box_.x + x] = column[y];
    }
  }
}

void Solver::transform_columns(std::vector<Complex>& columns, int sign) {
  for (std::size_t at = 0; at < columns.size(); at += box_.z) along_z_(&columns[at], sign);
}

Complex Solver::step() {
  for (std::size_t i = 0; i < spectrum_.size(); ++i) decayed_[i] = spectrum_[i] *= decay_[i];
  transform_columns(decayed_, -1);
  from_spectrum_(decayed_.data(), values_.data());
  transform_planes(-1);
  return own_checksum();
}

Complex Solver::own_checksum() const {
  const std::size_t planes = box_.z / team_.size, first = team_.rank * planes;
  Complex sum = 0;
  for (std::size_t j = 1; j <= kSamples; ++j) {
    const std::size_t x = j % box_.x, y = 3 * j % box_.y, z = 5 * j % box_.z;
    if (z < first || z >= first + planes) continue;
    sum += values_[((z - first) * box_.y + y) * box_.x + x];
  }
  return sum / static_cast<double>(box_.points());
}

std::vector<double> solve_serially(const Box& box, int steps) {
  Solver solver(box, {});
  std::vector<double> sums;
  for (int i = 0; i < steps; ++i) {
    const Complex sum = solver.step();
    sums.insert(sums.end(), {sum.real(), sum.imag()});
  }
  return sums;
}

}  // namespace apps::ft
