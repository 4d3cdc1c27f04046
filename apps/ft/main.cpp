// ft: a partial differential equation by 3-D Fourier transforms; see ../README.md.
#include <bit>

#include "apps/common/application.h"
#include "apps/common/command_line.h"
#include "apps/common/team.h"
#include "apps/ft/solver.h"

namespace {

struct Options {
  std::string name;
  std::vector<std::size_t> box = {64, 64, 64};
  int iterations = 6;
  bool verify = false;
  std::string json;
};

/// The problems of the NAS Parallel Benchmarks.
const std::map<std::string, std::pair<std::vector<std::size_t>, int>> kClasses{
    {"S", {{64, 64, 64}, 6}},
    {"W", {{128, 128, 32}, 6}},
    {"A", {{256, 256, 128}, 6}},
    {"B", {{512, 256, 256}, 20}}};

bool run(Options o, const apps::World& world) {
  using namespace apps::ft;
  apps::Report report(world, o.json);
  if (!o.name.empty()) std::tie(o.box, o.iterations) = kClasses.at(o.name);
  for (const std::size_t side : o.box)
    if (!std::has_single_bit(side)) throw apps::UsageError("--box: sides must be powers of two");
  const Box box{o.box[0], o.box[1], o.box[2]};
  apps::demand_multiple(world, "--box: z is", box.z);
  apps::demand_multiple(world, "--box: x y is", box.x * box.y);

  apps::LoopTimer timer(world.comm);
  Solver solver(box, apps::team_of(world, timer));
  std::vector<double> sums;
  timer.start();
  for (int i = 0; i < o.iterations; ++i) {
    const Complex own = solver.step();
    double sum[2] = {own.real(), own.imag()}, total[2] = {};
    timer.collective([&] { MPI_Reduce(sum, total, 2, MPI_DOUBLE, MPI_SUM, 0, world.comm); });
    sums.insert(sums.end(), {total[0], total[1]});
    timer.lap();
  }
  std::vector<double> expected;
  if (o.verify && world.rank == 0) expected = solve_serially(box, o.iterations);
  return report.finish({{"app", "ft"},
                        {"form", "slabs"},
                        {"n", box.points()},
                        {"box", o.box},
                        {"iterations", o.iterations},
                        {"message_bytes", solver.block_bytes()}},
                       timer, sums, o.verify ? &expected : nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  apps::CommandLine line(
      "ft", "A diffusion equation by 3-D Fourier transforms: FT of the NAS Parallel Benchmarks");
  line.numbers("--box", o.box, 3, {1, 4096}, "points along x, y and z, powers of two");
  line.number("--iterations", o.iterations, {1, 1000000});
  line.word_of("--class", o.name, apps::names(kClasses), "a problem of the benchmark: S, W, A, B");
  line.excludes("--class", "--box");
  line.excludes("--class", "--iterations");
  line.results(o.verify, o.json, "compare with the serial solver");
  return apps::with_mpi(argc, argv, line, [&](const apps::World& world) { return run(o, world); });
}
