// jacobi: the Jacobi iteration for a dense linear system, in four forms; see ../README.md.
#include "apps/common/application.h"
#include "apps/common/command_line.h"
#include "apps/jacobi/forms.h"

namespace {

struct Options {
  std::string form;
  std::size_t n = 1024;
  int iterations = 50;
  bool verify = false;
  std::string json;
};

bool run(const Options& o, const apps::World& world) {
  using namespace apps::jacobi;
  apps::Report report(world, o.json);
  const System system(o.n);
  apps::LoopTimer timer(world.comm);
  const auto form = make_form(kForms.at(o.form), system, world, timer);
  timer.start();
  for (int i = 0; i < o.iterations; ++i) {
    form->iterate();
    timer.lap();
  }
  const std::vector<double> x = form->solution();
  std::vector<double> expected;
  if (o.verify && world.rank == 0) expected = solve_serially(system, o.iterations);
  return report.finish(
      {{"app", "jacobi"}, {"form", o.form}, {"n", o.n}, {"iterations", o.iterations}}, timer, x,
      o.verify ? &expected : nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  apps::CommandLine line("jacobi",
                         "The Jacobi iteration for a dense linear system on all ranks of the job");
  line.required_word_of("--form", o.form, apps::names(apps::jacobi::kForms),
                        "how the matrix is shared out, and the collectives");
  line.number("--n", o.n, {1, 100000}, "rows of the system");
  line.number("--iterations", o.iterations, {1, 1000000});
  line.results(o.verify, o.json, "compare with the serial solver (n x n numbers on rank 0)");
  return apps::with_mpi(argc, argv, line, [&](const apps::World& world) { return run(o, world); });
}
