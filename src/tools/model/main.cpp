// unisono-model: fits the cost model and asks it, without MPI. The tuner's candidates come from it.
#include <CLI/CLI.hpp>
#include <iostream>

#include "base/printable.h"
#include "base/size.h"
#include "base/version.h"
#include "files/file.h"
#include "tools/model/commands.h"
#include "tools/tool.h"

namespace unisono {

namespace {

constexpr const char* kHint = "- reads from a pipe";

std::string content(const std::string& path) {
  if (path != "-") {
    const auto text = read_file(path);
    if (!text) throw CLI::ValidationError(line_about(path, text.error(), kHint));
    return *text;
  }
  std::string text;
  char piece[1 << 14];
  while (std::cin.read(piece, sizeof piece) || std::cin.gcount() > 0) {
    text.append(piece, static_cast<std::size_t>(std::cin.gcount()));
    if (text.size() > kMostOfAFile) throw CLI::ValidationError("standard input is too large");
  }
  return text;
}

void write(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text;
    return;
  }
  if (const auto error = write_file(path, text))
    throw CLI::ValidationError(line_about(path, *error));
}

Machine machine_in(const std::string& path) {
  const auto machine = read_machine(content(path));
  if (!machine) throw CLI::ValidationError(line_about(path, machine.error()));
  return *machine;
}

struct Options {
  std::string samples, output = "-", machine, jobs, bytes = "0";
  Job job;
  int ranks = 2, dimensions = 2;
  double seconds = 0.25;
};

void add_offers(CLI::App& app, Options& options) {
  auto* offers_command = app.add_subcommand(
      "offers", "what online selection would try with one rank on each node, as JSON");
  offers_command->add_option("--machine", options.machine, "machine file")->required();
  offers_command->add_option("--collective", options.job.collective, "bcast, allreduce, ...")
      ->required();
  offers_command->add_option("--ranks", options.job.ranks, "how many")->required();
  offers_command->add_option("--bytes", options.bytes, "the vector, or a block, as in 64K")
      ->required();
  offers_command->add_option("--root", options.job.root, "root (0)");
  offers_command->add_option("--seconds", options.seconds, "that pricing may take (0.25)");
  offers_command->callback([&] {
    const auto bytes = parse_size(options.bytes);
    if (!bytes) throw CLI::ValidationError("--bytes " + options.bytes + " is no size");
    options.job.bytes = *bytes;
    std::cout << offers(options.job, machine_in(options.machine), options.seconds) << '\n';
  });
}

void add_commands(CLI::App& app, Options& options) {
  auto* fit = app.add_subcommand("fit", "the machine file, from what unisono-calibrate printed");
  fit->add_option("samples", options.samples, "file of samples, - for standard input")->required();
  fit->add_option("-o,--output", options.output, "machine file (standard output)");
  fit->callback([&] {
    const std::string samples = content(options.samples);
    std::string machine;
    try {
      machine = fit_samples(samples);
    } catch (const CLI::ValidationError& error) {
      throw CLI::ValidationError(line_about(options.samples, error.what()));
    }
    write(options.output, machine);
  });

  auto* predict = app.add_subcommand("predict", "seconds that algorithms would take, as JSON");
  predict->add_option("--machine", options.machine, "machine file")->required();
  auto* jobs = predict->add_option("--jobs", options.jobs, "JSON file of many calls, - for stdin");
  predict->add_option("--collective", options.job.collective, "bcast, allreduce, ...")
      ->excludes(jobs);
  predict->add_option("--ranks", options.job.ranks, "how many (16)")->excludes(jobs);
  predict->add_option("--nodes", options.job.nodes, "blocks of ranks (one node each)")
      ->excludes(jobs);
  predict->add_option("--bytes", options.bytes, "the vector, or a block, as in 64K")
      ->excludes(jobs);
  predict->add_option("--root", options.job.root, "root (0)")->excludes(jobs);
  predict->add_option("--spec,--specs", options.job.specs, "chain:segment=4K, ...; any number")
      ->excludes(jobs);
  predict->callback([&] {
    const Machine machine = machine_in(options.machine);
    if (options.jobs.empty()) {
      const auto bytes = parse_size(options.bytes);
      if (!bytes) throw CLI::ValidationError("--bytes " + options.bytes + " is no size");
      options.job.bytes = *bytes;
      std::cout << predict_job(options.job, machine) << '\n';
      return;
    }
    std::string rows;
    for (const Job& job : read_jobs(content(options.jobs)))
      rows += (rows.empty() ? "" : ",\n ") + predict_job(job, machine);
    std::cout << '[' << rows << "]\n";
  });

  add_offers(app, options);

  auto* shapes_command = app.add_subcommand("shapes", "grids of ranks worth trying, as JSON");
  shapes_command->add_option("--ranks", options.ranks, "how many")
      ->required()
      ->check(CLI::Range(1, 1'000'000));
  shapes_command->add_option("--dims", options.dimensions, "2 or 3 at most (2)")
      ->check(CLI::Range(2, 3));
  shapes_command->callback([&] { std::cout << shapes(options.ranks, options.dimensions); });
}

int run(int argc, char** argv) {
  CLI::App app("The cost model of Unisono: fitted from measurements, asked for predictions");
  app.set_version_flag("--version", "unisono-model " UNISONO_VERSION);
  app.require_subcommand(1);
  Options options;
  add_commands(app, options);
  // Each command writes its own.
  return run_tool(app, "unisono-model", argc, argv, [] { return ""; });
}

}  // namespace

}  // namespace unisono

int main(int argc, char** argv) { return unisono::run(argc, argv); }
