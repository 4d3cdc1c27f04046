// unisono-sim: algorithms of the catalogue, or the MPI library's own, in simulated time. It is a
// program for SMPI, started by smpirun; `unisono sim` does that. docs/reference/sim.md.
//
// One line of JSON for every algorithm and size, or one for a program's calls (replay.h). Nothing
// is measured: a call takes the time that the simulated network needs, the same in every run.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/size.h"
#include "tools/bench/cell.h"
#include "tools/bench/options.h"
#include "tools/sim/replay.h"
#include "tools/sim/simulate.h"

namespace unisono::sim {

namespace {

struct Options {
  Collective collective = Collective::barrier;
  std::vector<std::string> algorithms;
  std::vector<Count> sizes;
  int root = 0;
  Count memory = 0;      ///< bytes of buffers of all ranks together
  bool shares = false;   ///< the ranks' buffers are the same memory: no result is right
  std::string replayed;  ///< file of a program's calls; then the rest says nothing
};

// Who is wrong here is `unisono sim`, which has checked what its user wrote.
std::optional<Options> parse(int argc, char** argv) {
  Options o;
  std::string collective, algorithms, bytes, memory;
  CLI::App app("started by: unisono sim");
  app.add_option("--collective", collective);
  app.add_option("--arms", algorithms);
  app.add_option("--sizes", bytes);
  app.add_option("--root", o.root);
  app.add_option("--memory", memory);
  app.add_option("--replay", o.replayed);
  app.add_flag("--share", o.shares);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return std::nullopt;
  }
  if (!o.replayed.empty()) return o;
  const auto named = collective_named(collective);
  const auto sizes = bench::parse_sizes(bytes);
  const auto limit = parse_size(memory);
  if (!named || !contains(kAmongAll, *named) || !sizes || !limit) return std::nullopt;
  o.collective = *named;
  o.sizes = *sizes;
  o.memory = *limit;
  o.algorithms = bench::parse_arms(algorithms);
  return o;
}

void write_line(const Setting& setting, const std::string& algorithm, const Outcome& outcome) {
  nlohmann::ordered_json line = {
      {"collective", name(setting.collective)}, {"bytes", setting.bytes}, {"algorithm", algorithm}};
  if (outcome.obstacle) {
    line["left_out"] = *outcome.obstacle;
  } else {
    line["seconds"] = outcome.seconds;
    line["correct"] = outcome.correct;
  }
  std::puts(line.dump().c_str());
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  const auto options = parse(argc, argv);
  if (!options) return 2;
  if (!options->replayed.empty()) return replay(options->replayed);
  Setting setting = setting_of(options->collective, options->root);
  if (options->shares) share_buffers(setting);
  const bool sized = bench::call_of(options->collective).output != bench::Part::none;
  warm_up(setting.comm);
  bool correct = true;
  for (const Count bytes : sized ? options->sizes : std::vector<Count>{0}) {
    setting.bytes = bytes;
    for (const std::string& algorithm : options->algorithms) {
      const Outcome outcome = simulate(setting, algorithm, options->memory / setting.size);
      if (setting.rank == 0) write_line(setting, algorithm, outcome);
      correct = correct && outcome.correct;
    }
  }
  return correct ? 0 : 1;
}

}  // namespace

}  // namespace unisono::sim

// smpirun looks for it by its name.
__attribute__((visibility("default"))) int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int exit_code = 1;
  try {
    exit_code = unisono::sim::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "unisono-sim: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return exit_code;
}
