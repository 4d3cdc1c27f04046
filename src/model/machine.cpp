#include "model/machine.h"

#include <algorithm>
#include <cstdio>

#include "model/machine_json.h"

namespace unisono {

namespace {

constexpr const char* kFormat = "unisono-machine";
constexpr int kVersion = 1;
constexpr std::array<const char*, kMessageLevels> kLevelNames{"within_node", "between_nodes"};

Json json(const Cost& cost) {
  Json pieces = Json::array();
  for (const Cost::Piece& piece : cost.pieces)
    pieces.push_back(
        {{"from_bytes", piece.from}, {"alpha_s", piece.alpha}, {"beta_s_per_byte", piece.beta}});
  return pieces;
}

constexpr double kMostFigure = 1e15;  // seconds, bytes, ...: what is beyond, nobody measures
constexpr std::size_t kMostPieces = 64;

double figure(const Json& object, const char* name) {
  return number(field(object, name), name, -kMostFigure, kMostFigure);
}

Cost cost_from(const Json& object, const char* name) {
  const Json& pieces = list(object, name);
  if (pieces.size() > kMostPieces) throw Bad{std::string(name) + " is no short list"};
  Cost cost;
  for (const Json& piece : pieces)
    cost.pieces.push_back(
        {figure(piece, "from_bytes"), figure(piece, "alpha_s"), figure(piece, "beta_s_per_byte")});
  const auto before = [](const Cost::Piece& a, const Cost::Piece& b) { return a.from < b.from; };
  std::stable_sort(cost.pieces.begin(), cost.pieces.end(), before);
  return cost;
}

LevelCosts level_from(const Json& level) {
  return {cost_from(level, "one_way"), cost_from(level, "gap"), cost_from(level, "exchange"),
          whole(level, "active", 0)};
}

Json json(const TransferTimes& way) {
  return {{"one_way", json(way.one_way)}, {"gap", json(way.gap)}};
}

TransferTimes way_from(const Json& way) {
  return {cost_from(way, "one_way"), cost_from(way, "gap")};
}

Json json(const MemoryTimes& memory) {
  Json block{{"stores", json(memory.stores)}};
  if (memory.single_copy) block["single_copy"] = json(*memory.single_copy);
  block["copy"] = json(memory.copy);
  block["combine"] = json(memory.combine);
  block["fence_s"] = memory.fence;
  return block;
}

MemoryTimes memory_from(const Json& block) {
  MemoryTimes memory{.stores = way_from(field(block, "stores")),
                     .copy = cost_from(block, "copy"),
                     .combine = cost_from(block, "combine"),
                     .fence = figure(block, "fence_s")};
  if (const Json* way = field_if_any(block, "single_copy")) memory.single_copy = way_from(*way);
  return memory;
}

double not_negative_or_0(const Json& object, const char* name) {
  return number_or(0, object, name, 0, kMostFigure);
}

}  // namespace

Machine machine_from(const Json& file) {
  if (!file.is_object() || file.value("format", Json()) != kFormat)
    throw Bad{R"(no machine file ("format": "unisono-machine"): unisono-model fit writes one)"};
  if (file.value("version", Json()) != kVersion)
    throw Bad{"a machine file of another version than " + std::to_string(kVersion) +
              ": fit it again with this version of Unisono"};
  Machine machine;
  const Json &mpi = field(file, "mpi"), &levels = field(file, "levels");
  machine.flavour = word(mpi, "flavour");
  machine.library = word(mpi, "library");
  for (int l = 0; l < kMessageLevels; ++l)
    if (const Json* level = field_if_any(levels, kLevelNames[l]))
      machine.levels[l] = level_from(*level);
  machine.gamma = figure(file, "reduce_s_per_byte");
  machine.copy = figure(file, "copy_s_per_byte");
  if (const Json* incast = field_if_any(file, "incast"))
    machine.incast = {figure(*incast, "buffer_bytes"), figure(*incast, "window_bytes"),
                      figure(*incast, "timeout_s")};
  machine.credit = not_negative_or_0(file, "credit_bytes");
  machine.wake = not_negative_or_0(file, "wake_s");
  machine.shared_cores = whole_or(0, file, "shared_cores", 0);
  if (const Json* memory = field_if_any(file, "node_memory"))
    machine.node_memory = memory_from(*memory);
  return machine;
}

double Cost::operator()(Count bytes) const {
  if (pieces.empty()) return 0;
  const auto size = static_cast<double>(bytes);
  const Piece* piece = &pieces.front();
  for (const Piece& next : pieces)
    if (next.from <= size) piece = &next;
  return std::max(0.0, piece->alpha + piece->beta * size);
}

double LevelCosts::shared(Count bytes) const {
  return active < 2 ? 0 : std::max(0.0, exchange(bytes) - one_way(bytes)) / (active - 1);
}

bool MemoryTimes::copies_once(Count bytes) const {
  return single_copy && single_copy->one_way(bytes) < stores.one_way(bytes);
}

const TransferTimes& MemoryTimes::way(Count bytes) const {
  return copies_once(bytes) ? *single_copy : stores;
}

LevelCosts hockney(double alpha, double beta) {
  const Cost cost{{{0, alpha, beta}}};
  return {cost, cost, {}};
}

Json json(const Machine& machine) {
  Json levels = Json::object();
  for (int l = 0; l < kMessageLevels; ++l)
    if (const auto& level = machine.levels[l])
      levels[kLevelNames[l]] = {{"one_way", json(level->one_way)},
                                {"gap", json(level->gap)},
                                {"exchange", json(level->exchange)},
                                {"active", level->active}};
  Json file{{"format", kFormat},
            {"version", kVersion},
            {"mpi", {{"flavour", machine.flavour}, {"library", machine.library}}},
            {"levels", levels},
            {"reduce_s_per_byte", machine.gamma},
            {"copy_s_per_byte", machine.copy}};
  if (const Incast& incast = machine.incast; incast.loses())
    file["incast"] = {{"buffer_bytes", incast.buffer},
                      {"window_bytes", incast.window},
                      {"timeout_s", incast.timeout}};
  if (machine.credit > 0) file["credit_bytes"] = machine.credit;
  if (machine.wake > 0) file["wake_s"] = machine.wake;
  if (machine.shared_cores > 0) file["shared_cores"] = machine.shared_cores;
  if (machine.node_memory) file["node_memory"] = json(*machine.node_memory);
  return file;
}

// Names of libraries come from elsewhere.
std::string write_machine(const Machine& machine) {
  return json(machine).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

double network_rate(const Machine& machine) {
  const auto& between = machine.levels[kBetweenNodes];
  if (!between) return 0;
  constexpr Count kLong = Count{1} << 20;
  const double more = between->gap(2 * kLong) - between->gap(kLong);
  return more > 0 ? 8 * kLong / more : 0;
}

std::string summary(const Machine& machine) {
  constexpr std::array<const char*, kMessageLevels> kNames{"within a node", "between nodes"};
  std::string text;
  for (std::size_t l = kMessageLevels; l-- > 0;) {
    const auto& costs = machine.levels[l];
    if (!costs) continue;
    const double seconds = costs->one_way(1 << 20) - costs->one_way(0);
    char figures[120], rate[40] = "";
    std::snprintf(figures, sizeof figures, "%s %.1f us, %.1f us a message", kNames[l],
                  costs->one_way(0) * 1e6, costs->gap(0) * 1e6);
    if (seconds > 0) std::snprintf(rate, sizeof rate, ", %.0f Mb/s", 8e-6 * (1 << 20) / seconds);
    text += (text.empty() ? "" : "; ") + std::string(figures) + rate;
  }
  return text;
}

Result<Machine> read_machine(std::string_view text) {
  return result_of([&] { return machine_from(parse_json(text)); });
}

}  // namespace unisono
