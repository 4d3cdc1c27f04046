// adams: the Brusselator integrated by the parallel Adams methods, in four forms; see ../README.md.
#include "apps/adams/forms.h"
#include "apps/common/application.h"
#include "apps/common/command_line.h"

namespace {

struct Options {
  std::string method = "pab", form;
  std::size_t stages = 4, grid = 64;
  int steps = 20, corrections = 1;
  double step = 0;
  bool verify = false;
  std::string json;
};

bool run(const Options& o, const apps::World& world) {
  using namespace apps::adams;
  apps::Report report(world, o.json);
  const Method method = parallel_adams(o.stages, o.method == "pabm" ? o.corrections : 0);
  const Brusselator equations(o.grid);
  const double step = o.step > 0 ? o.step : kStableStep / equations.stiffness();
  const Problem problem{method, equations, step};
  apps::LoopTimer timer(world.comm);
  const auto solver = make_solver(kForms.at(o.form), problem, world, timer);
  timer.start();
  for (int i = 0; i < o.steps; ++i) {
    solver->step();
    timer.lap();
  }
  const std::vector<double> y = solver->solution();
  std::vector<double> expected;
  if (o.verify && world.rank == 0) expected = solve_serially(problem, o.steps);
  return report.finish({{"app", o.method},
                        {"form", o.form},
                        {"stages", o.stages},
                        {"corrections", method.corrections},
                        {"grid", o.grid},
                        {"n", equations.size()},
                        {"step", step},
                        {"iterations", o.steps}},
                       timer, y, o.verify ? &expected : nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  apps::CommandLine line("adams", "The parallel Adams methods PAB and PABM on the 2-D Brusselator");
  line.word_of("--method", o.method, {"pab", "pabm"});
  line.required_word_of("--form", o.form, apps::names(apps::adams::kForms),
                        "data-parallel or task-parallel (ranks: a multiple of --stages)");
  line.number_of("--stages", o.stages, {4, 8});
  line.number("--grid", o.grid, {2, 4096}, "points on a side: 2 grid^2 equations");
  line.number("--steps", o.steps, {1, 1000000});
  line.number("--corrections", o.corrections, {1, 100}, "of PABM, in a step");
  line.not_negative("--step", o.step, "step size; 0: one that is stable");
  line.results(o.verify, o.json, "compare with the serial solver");
  return apps::with_mpi(argc, argv, line, [&](const apps::World& world) { return run(o, world); });
}
