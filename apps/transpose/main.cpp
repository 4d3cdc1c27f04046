// transpose: a matrix transposed again and again; see ../README.md.
#include <fmt/format.h>

#include "apps/common/application.h"
#include "apps/common/command_line.h"
#include "apps/common/team.h"

namespace {

struct Options {
  std::size_t n = 1024;
  int iterations = 20;
  bool verify = false;
  std::string json;
};

/// Entry (i, j) of the first matrix is i n + j, exact in a double.
double entry(std::size_t i, std::size_t j, std::size_t n) { return static_cast<double>(i * n + j); }

/// How many of this rank's rows x n entries are wrong, summed over the ranks on rank 0.
double wrong_entries(const std::vector<double>& rows, const Options& o, const apps::World& world) {
  const std::size_t first = static_cast<std::size_t>(world.rank) * rows.size() / o.n;
  double own = 0, all = 0;
  for (std::size_t i = 0; i < rows.size() / o.n; ++i)
    for (std::size_t j = 0; j < o.n; ++j) {
      const std::size_t row = first + i;
      const double wanted = o.iterations % 2 == 0 ? entry(row, j, o.n) : entry(j, row, o.n);
      own += rows[i * o.n + j] != wanted ? 1 : 0;
    }
  MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, world.comm);
  return all;
}

bool run(const Options& o, const apps::World& world) {
  apps::Report report(world, o.json);
  apps::demand_multiple(world, "--n", o.n);
  apps::LoopTimer timer(world.comm);
  apps::Transpose<double> transpose(o.n, o.n, apps::team_of(world, timer));
  const std::size_t own = o.n / static_cast<std::size_t>(world.size);
  std::vector<double> rows(own * o.n);
  for (std::size_t i = 0; i < own; ++i)
    for (std::size_t j = 0; j < o.n; ++j)
      rows[i * o.n + j] = entry(static_cast<std::size_t>(world.rank) * own + i, j, o.n);
  timer.start();
  for (int i = 0; i < o.iterations; ++i) {
    transpose(rows.data(), rows.data());
    timer.lap();
  }
  const double wrong = o.verify ? wrong_entries(rows, o, world) : 0;
  const std::vector<double> none;
  return report.finish({{"app", "transpose"},
                        {"form", "rows"},
                        {"n", o.n},
                        {"iterations", o.iterations},
                        {"message_bytes", transpose.block_bytes()}},
                       timer, none, o.verify ? &none : nullptr,
                       wrong > 0 ? fmt::format("{:.0f} entries are wrong", wrong) : "");
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  apps::CommandLine line("transpose", "The transpose of an n x n matrix, again and again");
  line.number("--n", o.n, {1, 32768}, "rows and columns, a multiple of the ranks");
  line.number("--iterations", o.iterations, {1, 1000000});
  line.results(o.verify, o.json, "compare every entry with what it must be");
  return apps::with_mpi(argc, argv, line, [&](const apps::World& world) { return run(o, world); });
}
