// Bodies that attract each other, every one every other. Each rank moves a share of them.
#pragma once
#include <array>
#include <functional>
#include <vector>

namespace apps::nbody {

using Vector = std::array<double, 3>;

/// Completes the positions of all bodies, of which this rank's block is given.
using Gather = std::function<void(const Vector* own, Vector* all)>;

/// Blocks of ceil(n / p) bodies; beyond n there are bodies without mass.
struct Block {
  std::size_t size, first, padded;  // of a block; its first body; all blocks together
  Block(std::size_t bodies, std::size_t ranks, std::size_t rank)
      : size((bodies + ranks - 1) / ranks), first(rank * size), padded(ranks * size) {}
};

class System {
 public:
  System(std::size_t bodies, const Block& block, Gather gather);
  /// A step of leapfrog, kick-drift-kick; the positions of all are gathered once.
  void step(double seconds);
  /// This rank's part of the kinetic and the potential energy.
  double own_energy() const;
  const std::vector<Vector>& own_positions() const { return own_; }

 private:
  void accelerate();

  std::size_t bodies_;
  Block block_;
  Gather gather_;
  std::vector<double> masses_;
  std::vector<Vector> all_, own_, velocities_, accelerations_;
};

struct Solution {
  std::vector<Vector> positions;
  double energy;
};
Solution solve_serially(std::size_t bodies, double seconds, int steps);

}  // namespace apps::nbody
