#include "apps/nbody/bodies.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/common/random.h"

namespace apps::nbody {

namespace {

constexpr double kSoftening = 0.05;  // no two bodies come so close that a step would be too long

double squared(const Vector& a) { return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]; }

Vector difference(const Vector& a, const Vector& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

double inverse_distance(const Vector& a, const Vector& b) {
  return 1 / std::sqrt(squared(difference(a, b)) + kSoftening * kSoftening);
}

}  // namespace

/// All masses together are 1; a cube of bodies that turns around z.
System::System(std::size_t bodies, const Block& block, Gather gather)
    : bodies_(bodies),
      block_(block),
      gather_(std::move(gather)),
      masses_(block.padded, 0.0),
      all_(block.padded, Vector{}),
      own_(block.size),
      velocities_(block.size),
      accelerations_(block.size) {
  NasRandom random;
  for (std::size_t i = 0; i < bodies; ++i) {
    masses_[i] = 1 / static_cast<double>(bodies);
    for (double& x : all_[i]) x = 2 * random.next() - 1;
  }
  for (std::size_t i = 0; i < block.size; ++i) {
    own_[i] = all_[block.first + i];
    velocities_[i] = {-0.3 * own_[i][1], 0.3 * own_[i][0], 0};
  }
  accelerate();
}

void System::accelerate() {
  for (std::size_t i = 0; i < own_.size(); ++i) {
    Vector sum{};
    for (std::size_t j = 0; j < bodies_; ++j) {
      const double inverse = inverse_distance(own_[i], all_[j]);
      const double pull = masses_[j] * inverse * inverse * inverse;
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += pull * (all_[j][k] - own_[i][k]);
    }
    accelerations_[i] = sum;
  }
}

void System::step(double seconds) {
  const auto kick = [&] {
    for (std::size_t i = 0; i < own_.size(); ++i)
      for (std::size_t k = 0; k < own_[i].size(); ++k)
        velocities_[i][k] += seconds / 2 * accelerations_[i][k];
  };
  kick();
  for (std::size_t i = 0; i < own_.size(); ++i)
    for (std::size_t k = 0; k < own_[i].size(); ++k) own_[i][k] += seconds * velocities_[i][k];
  gather_(own_.data(), all_.data());
  accelerate();
  kick();
}

double System::own_energy() const {
  double energy = 0;
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const double mass = masses_[block_.first + i];
    double potential = masses_[block_.first + i] / kSoftening;  // its own, taken away again
    for (std::size_t j = 0; j < bodies_; ++j)
      potential -= masses_[j] * inverse_distance(own_[i], all_[j]);
    energy += mass * (squared(velocities_[i]) + potential) / 2;
  }
  return energy;
}

Solution solve_serially(std::size_t bodies, double seconds, int steps) {
  System system(bodies, Block(bodies, 1, 0),
                [&](const Vector* own, Vector* all) { std::copy_n(own, bodies, all); });
  for (int i = 0; i < steps; ++i) system.step(seconds);
  return {system.own_positions(), system.own_energy()};
}

}  // namespace apps::nbody
