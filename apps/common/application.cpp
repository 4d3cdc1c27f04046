#include "apps/common/application.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace apps {

namespace {

using Json = nlohmann::ordered_json;

// The forms add up in different orders; their errors stay far below this.
constexpr double kTolerance = 1e-11;

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;  // Open MPI counts the final 0
  MPI_Get_library_version(text, &length);
  const std::string version(text);
  return version.substr(0, version.find('\n'));
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double largest(const std::vector<double>& values) {
  double result = 0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

/// Largest difference / largest expected value.
double relative_error(const std::vector<double>& found, const std::vector<double>& expected) {
  double difference = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    difference = std::max(difference, std::abs(found[i] - expected[i]));
  return difference / std::max(largest(expected), 1e-300);
}

Json json_of(const Facts& facts) {
  Json json;
  for (const Fact& fact : facts)
    std::visit([&](const auto& value) { json[fact.name] = value; }, fact.value);
  return json;
}

void print(const Json& facts) {
  fmt::print("#");
  for (const auto& [name, value] : facts.items()) {
    if (name == "seconds") break;
    fmt::print(" {} {}", name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  const Json& verified = facts["verified"];
  fmt::print("\n#{:>15}{:>17}{:>15}{:>12}{:>10}\n", "Iteration(us)", "Collectives(us)",
             "Computing(us)", "Loop(s)", "Verified");
  fmt::print("{:>16.2f}{:>17.2f}{:>15.2f}{:>12.4f}{:>10}\n",
             facts["seconds_per_iteration"].get<double>() * 1e6,
             facts["seconds_in_collectives"].get<double>() * 1e6,
             facts["seconds_computing"].get<double>() * 1e6, facts["seconds"].get<double>(),
             verified.is_null() ? "-" : (verified.get<bool>() ? "yes" : "NO"));
  std::fflush(stdout);
}

}  // namespace

int with_mpi(int argc, char** argv, CommandLine& command_line,
             const std::function<bool(const World&)>& body) {
  MPI_Init(&argc, &argv);
  World world;
  MPI_Comm_rank(world.comm, &world.rank);
  MPI_Comm_size(world.comm, &world.size);
  int status = 0;
  try {
    std::ostringstream out, err;
    const std::optional<int> end = command_line.parse(argc, argv, out, err);
    if (end && world.rank == 0) {
      std::cout << out.str() << std::flush;
      std::cerr << err.str() << std::flush;
    }
    status = end ? *end : body(world) ? 0 : 1;
  } catch (const UsageError& error) {
    status = 2;
    if (world.rank == 0) fmt::print(stderr, "{}: {}\n", command_line.name(), error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: rank {}: {}\n", command_line.name(), world.rank, error.what());
    MPI_Abort(world.comm, 3);
  }
  MPI_Finalize();
  return status;
}

Report::Report(const World& world, const std::string& json_path)
    : world_(world), json_path_(json_path) {
  if (json_path_.empty()) return;
  int writable = 1;
  if (world_.rank == 0) writable = std::ofstream(json_path_) ? 1 : 0;
  MPI_Bcast(&writable, 1, MPI_INT, 0, world_.comm);
  if (writable == 0) throw UsageError(fmt::format("--json: cannot write {}", json_path_));
}

bool Report::finish(const Facts& of_this_run, const LoopTimer& timer,
                    const std::vector<double>& solution, const std::vector<double>* expected,
                    const std::string& complaint) {
  const LoopTimes times = timer.times();
  int good = 1;
  if (world_.rank == 0) {
    const bool finite = std::all_of(solution.begin(), solution.end(),
                                    [](double value) { return std::isfinite(value); });
    const double error = expected != nullptr ? relative_error(solution, *expected) : 0;
    good = finite && error <= kTolerance && complaint.empty() ? 1 : 0;
    Json facts = json_of(of_this_run);
    facts["ranks"] = world_.size;
    facts["mpi"] = mpi_library();
    facts["seconds"] = times.total;
    facts["seconds_per_iteration"] = median(times.iterations);
    facts["seconds_in_collectives"] = median(times.collectives);
    facts["seconds_computing"] = median(times.computing);
    facts["verified"] = expected != nullptr ? Json(good == 1) : Json(nullptr);
    facts["error"] = expected != nullptr ? Json(error) : Json(nullptr);
    facts["iteration_seconds"] = times.iterations;
    facts["collective_seconds"] = times.collectives;
    print(facts);
    if (!finite)
      fmt::print(stderr, "the solution is not finite\n");
    else if (!(error <= kTolerance))
      fmt::print(stderr, "the solution is not the expected one: {:.1e} of it differ\n", error);
    if (!complaint.empty()) fmt::print(stderr, "{}\n", complaint);
    if (!json_path_.empty() && !(std::ofstream(json_path_) << facts.dump(1) << '\n'))
      throw std::runtime_error(fmt::format("--json: cannot write {}", json_path_));
  }
  MPI_Bcast(&good, 1, MPI_INT, 0, world_.comm);
  return good == 1;
}

}  // namespace apps
