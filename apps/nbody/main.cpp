// nbody: bodies that attract each other; see ../README.md.
#include <fmt/format.h>

#include <cmath>

#include "apps/common/application.h"
#include "apps/common/command_line.h"
#include "apps/common/team.h"
#include "apps/nbody/bodies.h"

namespace {

constexpr double kDrift = 1e-3;  // of the energy, over a run

struct Options {
  std::size_t bodies = 1024;
  int steps = 50;
  double step = 0.005;
  bool verify = false;
  std::string json;
};

double total(double own, const apps::World& world) {
  double sum = 0;
  MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, world.comm);
  return sum;
}

bool run(const Options& o, const apps::World& world) {
  using namespace apps::nbody;
  apps::Report report(world, o.json);
  apps::LoopTimer timer(world.comm);
  const Block block(o.bodies, static_cast<std::size_t>(world.size),
                    static_cast<std::size_t>(world.rank));
  const int count = static_cast<int>(3 * block.size);
  System system(o.bodies, block, [&](const Vector* own, Vector* all) {
    timer.collective(
        [&] { MPI_Allgather(own, count, MPI_DOUBLE, all, count, MPI_DOUBLE, world.comm); });
  });
  const double before = total(system.own_energy(), world);
  timer.start();
  for (int i = 0; i < o.steps; ++i) {
    system.step(o.step);
    timer.lap();
  }
  const double drift = std::abs(total(system.own_energy(), world) / before - 1);
  std::vector<double> found =
      apps::collected(world, system.own_positions().data()->data(), 3 * block.size);
  std::vector<double> expected;
  if (world.rank == 0) found.resize(3 * o.bodies);
  if (o.verify && world.rank == 0) {
    const Solution solution = solve_serially(o.bodies, o.step, o.steps);
    for (const Vector& x : solution.positions) expected.insert(expected.end(), x.begin(), x.end());
  }
  const bool wrong = o.verify && !(drift <= kDrift);
  return report.finish({{"app", "nbody"},
                        {"form", "direct"},
                        {"n", o.bodies},
                        {"iterations", o.steps},
                        {"step", o.step},
                        {"energy_drift", drift},
                        {"message_bytes", block.size * sizeof(Vector)}},
                       timer, found, o.verify ? &expected : nullptr,
                       wrong ? fmt::format("the energy changed by {:.1e} of it", drift) : "");
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  apps::CommandLine line("nbody", "Bodies that attract each other, every one every other");
  line.number("--n", o.bodies, {1, 1000000}, "bodies");
  line.number("--steps", o.steps, {1, 1000000});
  line.positive("--step", o.step, "length of a step");
  line.results(o.verify, o.json, "compare with the serial solver, and look at the energy");
  return apps::with_mpi(argc, argv, line, [&](const apps::World& world) { return run(o, world); });
}
