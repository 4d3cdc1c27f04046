// adams: the Brusselator integrated by the parallel Adams methods, in four forms; see ../README.md.
#include "apps/adams/forms.h"
#include "apps/common/application.h"

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
  CLI::App app("The parallel Adams methods PAB and PABM on the 2-D Brusselator", "adams");
  app.option_defaults()->always_capture_default();
  app.add_option("--method", o.method)->check(CLI::IsMember({"pab", "pabm"}));
  app.add_option("--form", o.form, "data-parallel or task-parallel (ranks: a multiple of --stages)")
      ->required()
      ->check(CLI::IsMember(&apps::adams::kForms));
  app.add_option("--stages", o.stages)->check(CLI::IsMember({4, 8}));
  app.add_option("--grid", o.grid, "points on a side: 2 grid^2 equations")
      ->check(CLI::Range(2, 4096));
  app.add_option("--steps", o.steps)->check(CLI::Range(1, 1000000));
  app.add_option("--corrections", o.corrections, "of PABM, in a step")->check(CLI::Range(1, 100));
  app.add_option("--step", o.step, "step size; 0: one that is stable")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--verify", o.verify, "compare with the serial solver");
  app.add_option("--json", o.json, "also write the results to this file");
  return apps::with_mpi(argc, argv, app, [&](const apps::World& world) { return run(o, world); });
}
