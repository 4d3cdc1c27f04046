// Every form of the applications on all ranks of the job, compared with the serial solver on each.
#include <fmt/format.h>
#include <mpi.h>

#include <cmath>

#include "apps/adams/forms.h"
#include "apps/jacobi/forms.h"

namespace {

int failures = 0;

void expect_equal(const std::vector<double>& found, const std::vector<double>& expected,
                  const std::string& what) {
  bool equal = found.size() == expected.size();
  for (std::size_t i = 0; equal && i < found.size(); ++i)
    equal = std::abs(found[i] - expected[i]) <= 1e-12 * std::max(1.0, std::abs(expected[i]));
  if (equal) return;
  ++failures;
  fmt::print(stderr, "WRONG: {}\n", what);
}

// Fewer rows than ranks, blocks of different sizes and, with 1000, long messages.
void jacobi(const apps::World& world) {
  using namespace apps::jacobi;
  for (const std::size_t n : {1, 5, 1000}) {
    const System system(n);
    const std::vector<double> expected = solve_serially(system, 7);
    for (const auto& [name, form_name] : kForms) {
      apps::LoopTimer timer(world.comm);
      const auto form = make_form(form_name, system, world, timer);
      for (int i = 0; i < 7; ++i) form->iterate();
      expect_equal(form->solution(), expected, fmt::format("{} n {}", name, n));
    }
  }
}

void adams(const apps::World& world, std::size_t stages, int corrections, std::size_t grid) {
  using namespace apps::adams;
  const Method method = parallel_adams(stages, corrections);
  const Brusselator equations(grid);
  const Problem problem{method, equations, 0.25 / equations.stiffness()};
  const std::vector<double> expected = solve_serially(problem, 5);
  for (const auto& [name, form] : kForms) {
    const bool in_groups = form == FormName::tp || form == FormName::tp_orthogonal;
    const bool possible = !in_groups || static_cast<std::size_t>(world.size) % stages == 0;
    apps::LoopTimer timer(world.comm);
    try {
      const auto solver = make_solver(form, problem, world, timer);
      for (int i = 0; i < 5; ++i) solver->step();
      expect_equal(
          possible ? solver->solution() : std::vector<double>{}, expected,
          fmt::format("{} stages {} corrections {} grid {}", name, stages, corrections, grid));
    } catch (const apps::UsageError& error) {
      if (!possible) continue;
      ++failures;
      fmt::print(stderr, "WRONG: {}: {}\n", name, error.what());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  apps::World world;
  MPI_Comm_rank(world.comm, &world.rank);
  MPI_Comm_size(world.comm, &world.size);
  jacobi(world);
  for (const std::size_t stages : {4, 8})
    for (const int corrections : {0, 2})
      for (const std::size_t grid : {2, 19}) adams(world, stages, corrections, grid);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, world.comm);
  if (world.rank == 0) fmt::print("{}\n", failures == 0 ? "passed" : "FAILED");
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
