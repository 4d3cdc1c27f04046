// sweep: compressible flow by sweeps along rows, with transposes between; see ../README.md.
#include "apps/common/application.h"
#include "apps/common/command_line.h"
#include "apps/common/team.h"
#include "apps/sweep/hydro.h"

namespace {

struct Options {
  std::size_t n = 256;
  int steps = 20;
  bool verify = false;
  std::string json;
};

const double* numbers(const std::vector<apps::sweep::Cell>& cells) { return cells.data()->data(); }

bool run(const Options& o, const apps::World& world) {
  using namespace apps::sweep;
  apps::Report report(world, o.json);
  apps::demand_multiple(world, "--n", o.n);
  apps::LoopTimer timer(world.comm);
  Flow flow(o.n, apps::team_of(world, timer), [&](double own) {
    double all = own;
    timer.collective([&] { MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, world.comm); });
    return all;
  });
  timer.start();
  for (int i = 0; i < o.steps; ++i) {
    flow.step();
    timer.lap();
  }
  std::vector<double> found, expected;
  if (o.verify) {
    const auto& own = flow.cells();
    found = apps::collected(world, numbers(own), own.size() * own[0].size());
    if (world.rank == 0) {
      const std::vector<Cell> cells = solve_serially(o.n, o.steps);
      expected.assign(numbers(cells), numbers(cells) + cells.size() * cells[0].size());
    }
  }
  return report.finish({{"app", "sweep"},
                        {"form", "rows"},
                        {"n", o.n},
                        {"iterations", o.steps},
                        {"message_bytes", flow.block_bytes()}},
                       timer, found, o.verify ? &expected : nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  apps::CommandLine line(
      "sweep", "Compressible flow on an n x n grid by 1-D sweeps and transposes, as VH-1");
  line.number("--n", o.n, {4, 16384}, "cells on a side, a multiple of the ranks");
  line.number("--steps", o.steps, {1, 1000000});
  line.results(o.verify, o.json, "compare with the serial solver");
  return apps::with_mpi(argc, argv, line, [&](const apps::World& world) { return run(o, world); });
}
