// unisono-schedule: prints the catalogue, schedules, and the documentation made from them.
#include <CLI/CLI.hpp>
#include <memory>
#include <tuple>
#include <utility>

#include "base/printable.h"
#include "base/size.h"
#include "base/version.h"
#include "files/file.h"
#include "tools/schedule/commands.h"
#include "tools/schedule/decide.h"
#include "tools/schedule/order.h"
#include "tools/schedule/trees.h"
#include "tools/tool.h"
#include "topology/topology_file.h"

namespace unisono {

namespace {

/// What the options say in text, before it is checked.
struct Options {
  std::string collective;
  std::string algorithm;
  std::string count = "1K";
  std::string topology;
  std::string neighbours = "stencil:2";
};

/// Collective and spec; throws what CLI11 prints as one line.
std::pair<Collective, Spec> read_names(const Options& options) {
  const auto collective = collective_named(options.collective);
  if (!collective) {
    std::string valid;
    for (const std::string_view name : kCollectiveNames) valid += " " + std::string(name);
    throw CLI::ValidationError("no collective '" + options.collective + "'; valid:" + valid);
  }
  const auto spec = parse_spec(*collective, options.algorithm);
  if (!spec) throw CLI::ValidationError(spec.error());
  return {*collective, *spec};
}

/// The placement that a topology file gives the ranks; throws as well.
std::unique_ptr<const Topology> read_topology(const std::string& path, int ranks) {
  const auto wrong = [&](const std::string& why) {
    return CLI::ValidationError(line_about("--topology " + path, why));
  };
  const auto text = read_file(path);
  if (!text) throw wrong(text.error());
  const auto file = TopologyFile::parse(*text);
  if (!file) throw wrong(file.error());
  const auto labels = file->labels(ranks);
  if (!labels) throw wrong(labels.error());
  return std::make_unique<Topology>(ranks, *labels);
}

/// Turns the options into `what`.
void complete(const Options& options, Show& what) {
  Problem& problem = what.problem;
  if (!options.topology.empty()) what.topology = read_topology(options.topology, problem.size);
  problem.topology = what.topology.get();
  std::tie(problem.collective, what.spec) = read_names(options);
  if (what.spec.algorithm == nullptr)
    throw CLI::ValidationError("'" + options.algorithm + "' has no schedule to show");
  what.spec.params = with_standard_segment(*what.spec.algorithm, what.spec.params);
  problem.params = what.spec.params;
  if (is_among_neighbours(problem.collective)) {
    const auto grid = NamedGrid::parse(options.neighbours, problem.size);
    if (!grid) throw CLI::ValidationError("--neighbours " + grid.error());
    what.graph = std::make_unique<NeighbourGraph>(grid->graph());
    problem.graph = what.graph.get();
  }
  const auto count = parse_size(options.count);
  if (!count) throw CLI::ValidationError("--count " + options.count + " is no number of units");
  problem.count = *count;
  if (problem.root < 0 || problem.root >= problem.size)
    throw CLI::ValidationError("--root is not one of the ranks");
  if (what.rank >= problem.size) throw CLI::ValidationError("--rank is not one of the ranks");
}

CLI::App* add_show(CLI::App& app, Options& options, Show& what) {
  auto* show_command = app.add_subcommand("show", "the schedule of one call");
  show_command->add_option("--collective", options.collective, "bcast, allreduce, ...")->required();
  show_command->add_option("--algorithm", options.algorithm, "chain:segment=4K, ...")->required();
  show_command->add_option("--ranks", what.problem.size, "how many (8)")
      ->check(CLI::Range(1, 100000));
  show_command->add_option("--rank", what.rank, "only this one")->check(CLI::NonNegativeNumber);
  show_command->add_option("--root", what.problem.root, "root of the collective (0)");
  show_command->add_option("--count", options.count, "units of the vector, or of a block (1K)");
  show_command->add_option("--unit-bytes", what.problem.unit_bytes, "bytes of a unit (1)")
      ->check(CLI::PositiveNumber);
  show_command->add_option("--topology", options.topology,
                           "file that places the ranks (NodeName=a Ranks=0-3)");
  show_command->add_option("--neighbours", options.neighbours,
                           "torus:N or stencil:N, N dimensions (stencil:2)");
  show_command->add_flag("--in-place", what.problem.in_place, "with MPI_IN_PLACE");
  show_command->add_option("--format", what.format, "text, json or dot (text)")
      ->check(CLI::IsMember({"text", "json", "dot"}));
  return show_command;
}

int run(int argc, char** argv) {
  CLI::App app("The algorithms of Unisono and their schedules");
  app.set_version_flag("--version", "unisono-schedule " UNISONO_VERSION);
  app.require_subcommand(1);

  bool json = false;
  auto* list_command = app.add_subcommand("list", "the catalogue of algorithms");
  list_command->add_flag("--json", json, "as JSON");
  auto* variables_command = app.add_subcommand("variables", "the environment variables");
  variables_command->add_flag("--json", json, "as JSON");
  auto* arrival_command =
      app.add_subcommand("arrival", "what is left to do when the last rank arrives");
  auto* docs_command = app.add_subcommand("docs", "docs/algorithms.md");

  Options options;
  auto* spec_command = app.add_subcommand("spec", "checks an algorithm's spec and completes it");
  spec_command->add_option("--collective", options.collective, "bcast, allreduce, ...")->required();
  spec_command->add_option("--algorithm", options.algorithm, "chain:segment=4K, ...")->required();

  Show what;
  what.problem.size = 8;
  const auto* show_command = add_show(app, options, what);
  const OrderCommands orders(app);
  const TreesCommand trees(app);
  const DecideCommand decisions(app);

  return run_tool(app, "unisono-schedule", argc, argv, [&] {
    if (*list_command) return list(json);
    if (*variables_command) return variables(json);
    if (*arrival_command) return arrival_tables();
    if (*docs_command) return documentation();
    if (*spec_command) return text(read_names(options).second) + "\n";
    if (!*show_command) return orders.run() + trees.run() + decisions.run();
    complete(options, what);
    return show(what);
  });
}

}  // namespace

}  // namespace unisono

int main(int argc, char** argv) { return unisono::run(argc, argv); }
