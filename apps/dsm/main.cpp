// dsm: programs on a software distributed shared memory; see ../README.md.
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>

#include "apps/common/application.h"
#include "apps/common/command_line.h"
#include "apps/dsm/dsm.h"
#include "apps/dsm/programs.h"

namespace {

namespace dsm = apps::dsm;

struct Options {
  std::string program = "pages", homes = "block";
  dsm::Problem problem;
  int iterations = 100;
  bool verify = false;
  std::string json;
};

const std::map<std::string, dsm::Homes> kHomes{{"block", dsm::Homes::block},
                                               {"round-robin", dsm::Homes::round_robin},
                                               {"first-touch", dsm::Homes::first_touch}};

/// The sum over the ranks, on rank 0.
std::uint64_t of_all(std::uint64_t own, const apps::World& world) {
  std::uint64_t all = 0;
  MPI_Reduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, 0, world.comm);
  return all;
}

/// What the DSM did in the loop, all ranks together.
apps::Facts what_it_did(const dsm::Statistics& before, const dsm::Statistics& after,
                        const apps::World& world) {
  return {{"alltoallvs", after.alltoallvs - before.alltoallvs},
          {"faults", of_all(after.faults - before.faults, world)},
          {"fetched_pages", of_all(after.fetched - before.fetched, world)},
          {"diff_bytes", of_all(after.diff_bytes - before.diff_bytes, world)},
          {"update_bytes", of_all(after.update_bytes - before.update_bytes, world)}};
}

bool run(const Options& o, const apps::World& world) {
  apps::Report report(world, o.json);
  const dsm::Kind& kind = *dsm::find_kind(o.program);
  dsm::Options options;
  options.homes = kHomes.at(o.homes);
  dsm::init(world.comm, kind.bytes(o.problem, world.size), options);
  const std::unique_ptr<dsm::Program> program = kind.make(o.problem, world);
  apps::LoopTimer timer(world.comm);
  const auto barrier = [&] { timer.collective([] { dsm::barrier(); }); };
  const dsm::Statistics before = dsm::statistics();
  timer.start();
  for (int i = 0; i < o.iterations; ++i) {
    program->iterate(barrier);
    timer.lap();
  }
  const dsm::Statistics after = dsm::statistics();
  std::vector<double> found, expected;
  std::string wrong;
  if (o.verify) {
    found = program->solution();
    wrong = program->complaint();
    if (world.rank == 0) expected = program->serial_solution(o.iterations);
    if (world.rank == 0 && found != expected && wrong.empty())
      wrong = "the result is not, bit for bit, the serial one";
  }
  apps::Facts facts = {{"app", "dsm"},
                       {"form", o.program},
                       {"homes", o.homes},
                       {"n", o.program == "pages" ? o.problem.pages : o.problem.n},
                       {"iterations", o.iterations},
                       {"page_bytes", dsm::page_bytes()}};
  const apps::Facts did = what_it_did(before, after, world);
  facts.insert(facts.end(), did.begin(), did.end());
  dsm::finalize();
  return report.finish(facts, timer, found, o.verify ? &expected : nullptr, wrong);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  apps::CommandLine line("dsm", "Programs on a software distributed shared memory");
  line.word_of("--program", o.program, dsm::kind_names(),
               "pages that each rank modifies, a stencil, or powers of a matrix");
  line.word_of("--homes", o.homes, apps::names(kHomes), "where pages are kept");
  line.number("--pages", o.problem.pages, {1, 1 << 20}, "of pages: how many each rank modifies");
  line.number("--n", o.problem.n, {1, 16384}, "of the others: rows and columns");
  line.number("--iterations", o.iterations, {1, 1000000});
  line.results(o.verify, o.json,
               "compare every word with what it must be, or with the serial result");
  return apps::with_mpi(argc, argv, line, [&](const apps::World& world) { return run(o, world); });
}
