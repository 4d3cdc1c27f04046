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

bool can_share(const Box& box, std::size_t ranks) {
  return (box.z % ranks == 0 && box.x * box.y % ranks == 0) ||
         (box.y % ranks == 0 && box.x * box.z % ranks == 0);
}

Solver::Solver(const Box& box, const Team& team)
    : box_(box),
      team_(team),
      shares_z_(box.z % team.size == 0 && box.x * box.y % team.size == 0),
      shared_(shares_z_ ? box.z : box.y),
      kept_(shares_z_ ? box.y : box.z),
      along_x_(box.x),
      along_kept_(kept_),
      along_shared_(shared_),
      to_spectrum_(shared_, box.x * kept_, team),
      from_spectrum_(box.x * kept_, shared_, team),
      values_(box.points() / team.size),
      spectrum_(values_.size()),
      decayed_(values_.size()),
      decay_(values_.size()) {
  draw();
  prepare_decay();
  transform_planes(1);
  to_spectrum_(values_.data(), spectrum_.data());
  transform_columns(spectrum_, 1);
}

/// Two random numbers for each point, x the fastest, z the slowest.
void Solver::draw() {
  const std::size_t planes = shared_ / team_.size, first = team_.rank * planes;
  Complex* value = values_.data();
  for (std::size_t own = first; own < first + planes; ++own)
    for (std::size_t kept = 0; kept < kept_; ++kept) {
      const std::size_t row = shares_z_ ? own * box_.y + kept : kept * box_.y + own;
      NasRandom random(2 * row * box_.x);
      for (std::size_t x = 0; x < box_.x; ++x) {
        const double re = random.next();
        *value++ = {re, random.next()};
      }
    }
}

void Solver::prepare_decay() {
  const std::size_t columns = box_.x * kept_ / team_.size;
  for (std::size_t own = 0; own < columns; ++own) {
    const std::size_t at = team_.rank * columns + own;
    const double plane =
        frequency_squared(at % box_.x, box_.x) + frequency_squared(at / box_.x, kept_);
    for (std::size_t i = 0; i < shared_; ++i)
      decay_[own * shared_ + i] = std::exp(-4 * kAlpha * std::numbers::pi * std::numbers::pi *
                                           (plane + frequency_squared(i, shared_)));
  }
}

void Solver::transform_planes(int sign) {
  std::vector<Complex> column(kept_);
  for (std::size_t at = 0; at < values_.size(); at += box_.x * kept_) {
    Complex* plane = &values_[at];
    for (std::size_t i = 0; i < kept_; ++i) along_x_(plane + i * box_.x, sign);
    for (std::size_t x = 0; x < box_.x; ++x) {
      for (std::size_t i = 0; i < kept_; ++i) column[i] = plane[i * box_.x + x];
      along_kept_(column.data(), sign);
      for (std::size_t i = 0; i < kept_; ++i) plane[i * box_.x + x] = column[i];
    }
  }
}

void Solver::transform_columns(std::vector<Complex>& columns, int sign) {
  for (std::size_t at = 0; at < columns.size(); at += shared_) along_shared_(&columns[at], sign);
}

Complex Solver::step() {
  for (std::size_t i = 0; i < spectrum_.size(); ++i) decayed_[i] = spectrum_[i] *= decay_[i];
  transform_columns(decayed_, -1);
  from_spectrum_(decayed_.data(), values_.data());
  transform_planes(-1);
  return own_checksum();
}

Complex Solver::own_checksum() const {
  const std::size_t planes = shared_ / team_.size, first = team_.rank * planes;
  Complex sum = 0;
  for (std::size_t j = 1; j <= kSamples; ++j) {
    const std::size_t x = j % box_.x, y = 3 * j % box_.y, z = 5 * j % box_.z;
    const std::size_t own = shares_z_ ? z : y, kept = shares_z_ ? y : z;
    if (own < first || own >= first + planes) continue;
    sum += values_[((own - first) * kept_ + kept) * box_.x + x];
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
