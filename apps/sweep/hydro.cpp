#include "apps/sweep/hydro.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace apps::sweep {

namespace {

constexpr double kGamma = 1.4, kCourant = 0.4;

double pressure(const Cell& u) {
  return (kGamma - 1) * (u[3] - (u[1] * u[1] + u[2] * u[2]) / (2 * u[0]));
}

double sound(const Cell& u) { return std::sqrt(kGamma * pressure(u) / u[0]); }

/// Density, velocity along and across, pressure.
Cell to_primitive(const Cell& u) { return {u[0], u[1] / u[0], u[2] / u[0], pressure(u)}; }

Cell to_conserved(const Cell& w) {
  const double kinetic = w[0] * (w[1] * w[1] + w[2] * w[2]) / 2;
  return {w[0], w[0] * w[1], w[0] * w[2], w[3] / (kGamma - 1) + kinetic};
}

Cell flux_of(const Cell& u) {
  const double velocity = u[1] / u[0], p = pressure(u);
  return {u[1], u[1] * velocity + p, u[2] * velocity, (u[3] + p) * velocity};
}

double minmod(double a, double b) {
  if (a * b <= 0) return 0;
  return std::abs(a) < std::abs(b) ? a : b;
}

/// Between two states, by the slowest and the fastest wave (Harten, Lax, van Leer 1983; speeds of
/// Davis 1988).
Cell hll(const Cell& left, const Cell& right) {
  const double ul = left[1] / left[0], ur = right[1] / right[0];
  const double cl = sound(left), cr = sound(right);
  const double slow = std::min(ul - cl, ur - cr), fast = std::max(ul + cl, ur + cr);
  if (slow >= 0) return flux_of(left);
  if (fast <= 0) return flux_of(right);
  const Cell fl = flux_of(left), fr = flux_of(right);
  Cell f;
  for (std::size_t k = 0; k < f.size(); ++k)
    f[k] = (fast * fl[k] - slow * fr[k] + fast * slow * (right[k] - left[k])) / (fast - slow);
  return f;
}

}  // namespace

Flow::Flow(std::size_t n, const Team& team, Largest largest)
    : n_(n),
      largest_(std::move(largest)),
      transpose_(n, n, team),
      cells_(n * n / team.size),
      primitive_(n),
      left_(n),
      right_(n),
      flux_(n) {
  const std::size_t first = team.rank * (n / team.size);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const double x = (static_cast<double>(i % n) + 0.5) / static_cast<double>(n) - 0.5;
    const double y = (static_cast<double>(first + i / n) + 0.5) / static_cast<double>(n) - 0.5;
    const double p = x * x + y * y < 0.01 ? 10 : 0.1;
    cells_[i] = to_conserved({1, 0.3 * std::sin(2 * std::numbers::pi * y), 0, p});
  }
}

double Flow::largest_speed() const {
  double speed = 0;
  for (const Cell& u : cells_)
    speed = std::max(speed, std::max(std::abs(u[1]), std::abs(u[2])) / u[0] + sound(u));
  return speed;
}

void Flow::step() {
  const double ratio = kCourant / largest_(largest_speed());  // time step / cell
  sweep(ratio);
  turn();
  sweep(ratio);
  turn();
}

/// The momenta change their parts.
void Flow::turn() {
  transpose_(cells_.data(), cells_.data());
  for (Cell& u : cells_) std::swap(u[1], u[2]);
}

/// MUSCL-Hancock, second order (van Leer 1984): limited slopes, both edges of a cell advanced by
/// half a step, fluxes between them.
void Flow::sweep(double ratio) {
  for (std::size_t at = 0; at < cells_.size(); at += n_) {
    Cell* row = &cells_[at];
    for (std::size_t i = 0; i < n_; ++i) primitive_[i] = to_primitive(row[i]);
    for (std::size_t i = 0; i < n_; ++i) {
      const Cell &before = primitive_[(i + n_ - 1) % n_], &w = primitive_[i],
                 &after = primitive_[(i + 1) % n_];
      Cell low = w, high = w;
      for (std::size_t k = 0; k < w.size(); ++k) {
        const double slope = minmod(w[k] - before[k], after[k] - w[k]);
        low[k] -= slope / 2;
        high[k] += slope / 2;
      }
      left_[i] = to_conserved(low);
      right_[i] = to_conserved(high);
      const Cell in = flux_of(left_[i]), out = flux_of(right_[i]);
      for (std::size_t k = 0; k < w.size(); ++k) {
        const double change = ratio / 2 * (in[k] - out[k]);
        left_[i][k] += change;
        right_[i][k] += change;
      }
    }
    for (std::size_t i = 0; i < n_; ++i) flux_[i] = hll(right_[i], left_[(i + 1) % n_]);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t k = 0; k < flux_[i].size(); ++k)
        row[i][k] += ratio * (flux_[(i + n_ - 1) % n_][k] - flux_[i][k]);
  }
}

std::vector<Cell> solve_serially(std::size_t n, int steps) {
  Flow flow(n, {}, [](double own) { return own; });
  for (int i = 0; i < steps; ++i) flow.step();
  return flow.cells();
}

std::array<double, 2> totals(const std::vector<Cell>& cells) {
  std::array<double, 2> sums{};
  for (const Cell& u : cells) {
    sums[0] += u[0];
    sums[1] += u[3];
  }
  return sums;
}

}  // namespace apps::sweep
