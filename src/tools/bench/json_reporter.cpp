#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "files/file.h"
#include "tools/bench/reporter.h"

namespace unisono::bench {

namespace {

using Json = nlohmann::ordered_json;

// Raised when a reader of the former form would misread the new one.
constexpr int kSchemaVersion = 2;

std::string now() {
  const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[32];
  std::tm utc{};
  gmtime_r(&time, &utc);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// As in a profile, which holds where these are the same.
Json environment_of(const Machine& machine) {
  const Platform& here = machine.platform;
  return {
      {"mpi", {{"flavour", here.flavour}, {"library", here.library}}},
      {"machine",
       {{"place", name(here.place)}, {"network_rate", here.network_rate}, {"cores", here.cores}}},
      {"shape", {{"ranks", machine.ranks}, {"nodes", machine.nodes}}}};
}

Json to_json(const MedianEstimate& e) {
  return {{"median", e.median}, {"low", e.low}, {"high", e.high}, {"coverage", e.coverage}};
}

Json to_json(const ArmResult& arm, bool raw) {
  Json json = {{"arm", arm.arm}, {"available", arm.available}};
  if (arm.left) json["left"] = true;
  if (!arm.available) return json;
  json["ran_by"] = arm.passed_on || arm.arm == "native" ? "mpi" : "unisono";
  json["correct"] = arm.correct;
  json["time_us"] = to_json(arm.time_us);
  if (arm.ratio) json["ratio_to_native"] = to_json(*arm.ratio);
  json["blocks"] = arm.samples_us.size();
  json["calls_per_block"] = arm.calls_per_batch;
  if (raw) json["samples_us"] = arm.samples_us;
  return json;
}

class JsonReporter : public Reporter {
 public:
  JsonReporter(std::ofstream file, std::string path, bool raw)
      : file_(std::move(file)),
        path_(std::move(path)),
        replaceable_(std::filesystem::is_regular_file(std::filesystem::symlink_status(path_))),
        raw_(raw) {}

  void begin(const Machine& machine, const Options& options) override {
    Json environment = Json::object();
    for (const auto& [variable, value] : machine.environment) environment[variable] = value;
    document_ = {{"schema", "unisono-bench"},
                 {"schema_version", kSchemaVersion},
                 {"date", now()},
                 {"machine",
                  {{"unisono_version", machine.unisono_version},
                   {"mpi_library", machine.platform.library},
                   {"mpi_library_path", machine.mpi_library_path},
                   {"mpi_standard", machine.mpi_standard},
                   {"ranks", machine.ranks},
                   {"nodes", machine.nodes},
                   {"most_ranks_on_a_node", machine.most_ranks_on_a_node},
                   {"cores", machine.cores},
                   {"processor", machine.processor},
                   {"kernel", machine.kernel},
                   {"environment", environment}}},
                 {"environment", environment_of(machine)},
                 {"options",
                  {{"time", options.measure.mean_over_ranks ? "mean" : "max"},
                   {"time_budget_seconds", options.measure.budget_seconds},
                   {"drain_bytes", options.measure.drain},
                   {"pattern", pattern_name(options.measure.pattern)},
                   {"seed", options.seed}}},
                 {"cells", Json::array()}};
  }

  void begin_table(const Table& table) override { table_ = table; }

  void cell(const CellResult& result) override {
    Json cell = {{"collective", name(result.collective)}, {"bytes", result.bytes}};
    if (!table_.sized.empty()) {
      cell["size_of"] = table_.sized;
      cell["type"] = table_.type;
    }
    if (!table_.op.empty()) cell["op"] = table_.op;
    if (table_.root >= 0) cell["root"] = table_.root;
    cell["in_place"] = table_.in_place;
    if (result.obstacle) {
      cell["left_out"] = *result.obstacle;
    } else {
      cell["correct"] = result.correct;
      cell["seconds"] = result.seconds;
      cell["arms"] = Json::array();
      for (const ArmResult& arm : result.arms) cell["arms"].push_back(to_json(arm, raw_));
    }
    document_["cells"].push_back(cell);
    if (replaceable_) replace();
  }

  void end() override {
    const std::optional<std::string> problem = replaceable_ ? replace() : std::nullopt;
    if (replaceable_ && !problem) return;
    // Where only the folder may not be written, the file is. Else, as on a full disk, it stays.
    if (replaceable_ && is_writable_folder()) return complain(*problem);
    if (replaceable_) file_ = std::ofstream(path_);
    file_ << document_.dump(1) << '\n' << std::flush;
    if (!file_) complain("it cannot be written as a whole");
  }

 private:
  // As a whole, after every cell: what was measured survives the end of this program, and who reads
  // along never sees half a document.
  std::optional<std::string> replace() const { return write_file(path_, document_.dump(1) + "\n"); }

  bool is_writable_folder() const {
    const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
    return access(folder.empty() ? "." : folder.c_str(), W_OK) == 0;
  }

  void complain(const std::string& problem) const {
    std::fprintf(stderr, "unisono-bench: %s\n", line_about(path_, problem).c_str());
  }

  std::ofstream file_;
  std::string path_;
  bool replaceable_;  // no pipe, no terminal, no link
  bool raw_;
  Table table_;
  Json document_;
};

}  // namespace

std::unique_ptr<Reporter> make_json_reporter(const std::string& path, bool raw) {
  std::ofstream file(path, std::ios::app);  // what is there stays until there is something else
  if (!file) return nullptr;
  return std::make_unique<JsonReporter>(std::move(file), path, raw);
}

}  // namespace unisono::bench
