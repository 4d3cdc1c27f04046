// unisono-network: what schedules take on a network with links, and what no schedule can beat
// there, without MPI. `unisono sim --engine flows` asks it. docs/reference/sim.md.
#include <CLI/CLI.hpp>

#include "base/version.h"
#include "tools/network/commands.h"
#include "tools/tool.h"

namespace unisono {

namespace {

void add_network(CLI::App& command, Place& place) {
  command.add_option("--network", place.shape, "torus:XxYxZ, fattree:DxE:U or ethernet:N")
      ->required();
  command.add_option("--routing", place.routing,
                     "of a torus: minimal, directed or source (minimal)");
  command.add_option("--bandwidth", place.speeds.bandwidth, "of a link, bytes a second")
      ->required()
      ->check(CLI::PositiveNumber);
  command.add_option("--latency", place.speeds.latency, "of a link, seconds")
      ->required()
      ->check(CLI::NonNegativeNumber);
  command.add_option("--flops", place.speeds.flops, "of a host (1e9)")->check(CLI::PositiveNumber);
  command.add_option("--hosts", place.hosts,
                     "file: the host of each rank, in their order; else all");
  command.add_option("--root", place.root, "rank (0)")->check(CLI::NonNegativeNumber);
}

void add_call(CLI::App& command, Call& call) {
  command.add_option("--collective", call.collective, "bcast, allreduce, ...")->required();
  command.add_option("--algorithm", call.algorithm, "chain:segment=4K, ...")->required();
  command.add_option("--bytes", call.bytes, "vector, block, or all blocks, as in unisono-bench")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--eager", call.eager,
                     "bytes: up to these a message waits for no receive (-1)");
}

int run(int argc, char** argv) {
  CLI::App app("Schedules on a network with links");
  app.set_version_flag("--version", "unisono-network " UNISONO_VERSION);
  app.require_subcommand(1);

  Place place;
  Call call;
  auto* times = app.add_subcommand("times", "what a call takes, as one line of JSON");
  add_network(*times, place);
  add_call(*times, call);
  times->add_option("--memory", call.memory, "bytes that the schedules may take (4G)");
  times->add_flag("--links", call.links, "also the bytes over each link");
  std::string in_groups;
  auto* groups =
      app.add_subcommand("groups", "what a call takes in several groups of hosts at once");
  add_network(*groups, place);
  add_call(*groups, call);
  groups
      ->add_option(
          "--groups", in_groups,
          "random:N or random:N:seed=S, or a file: the hosts of a group a line, its root first")
      ->required();
  auto* limits = app.add_subcommand("limits", "bytes a second that members can exchange, as JSON");
  add_network(*limits, place);

  return run_tool(app, "unisono-network", argc, argv, [&] {
    return (*times    ? times_line(place, call)
            : *groups ? groups_line(place, call, in_groups)
                      : limits_line(place)) +
           "\n";
  });
}

}  // namespace

}  // namespace unisono

int main(int argc, char** argv) { return unisono::run(argc, argv); }
