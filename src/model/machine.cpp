#include "model/machine.h"

#include <algorithm>
#include <cstdio>

#include "schedule/fields.h"

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

Cost cost_from(const Json& pieces) {
  Cost cost;
  for (const Json& piece : pieces)
    cost.pieces.push_back({piece.at("from_bytes").get<double>(), piece.at("alpha_s").get<double>(),
                           piece.at("beta_s_per_byte").get<double>()});
  const auto before = [](const Cost::Piece& a, const Cost::Piece& b) { return a.from < b.from; };
  std::sort(cost.pieces.begin(), cost.pieces.end(), before);
  return cost;
}

LevelCosts level_from(const Json& level) {
  return {cost_from(level.at("one_way")), cost_from(level.at("gap")),
          cost_from(level.at("exchange")), level.at("active").get<int>()};
}

Json json(const TransferTimes& way) {
  return {{"one_way", json(way.one_way)}, {"gap", json(way.gap)}};
}

TransferTimes way_from(const Json& way) {
  return {cost_from(way.at("one_way")), cost_from(way.at("gap"))};
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
  MemoryTimes memory{.stores = way_from(block.at("stores")),
                     .copy = cost_from(block.at("copy")),
                     .combine = cost_from(block.at("combine")),
                     .fence = block.at("fence_s").get<double>()};
  if (const auto way = block.find("single_copy"); way != block.end())
    memory.single_copy = way_from(*way);
  return memory;
}

}  // namespace

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

std::string write_machine(const Machine& machine) {
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
  return file.dump(2) + "\n";
}

std::string summary(const Machine& machine) {
  constexpr std::array<const char*, kMessageLevels> kNames{"within a node", "between nodes"};
  std::string text;
  for (std::size_t l = kMessageLevels; l-- > 0;) {
    const auto& costs = machine.levels[l];
    if (!costs) continue;
    const double rate = 8 * (1 << 20) / (costs->one_way(1 << 20) - costs->one_way(0));
    char figures[160];
    std::snprintf(figures, sizeof figures, "%s %.1f us, %.1f us a message, %.0f Mb/s", kNames[l],
                  costs->one_way(0) * 1e6, costs->gap(0) * 1e6, rate * 1e-6);
    text += (text.empty() ? "" : "; ") + std::string(figures);
  }
  return text;
}

Result<Machine> read_machine(std::string_view text) {
  const Json file = Json::parse(text, nullptr, false);
  if (!file.is_object() || file.value("format", Json()) != kFormat)
    return Error{R"(no machine file ("format": "unisono-machine"): unisono-model fit writes one)"};
  if (file.value("version", Json()) != kVersion)
    return Error{"a machine file of another version than " + std::to_string(kVersion) +
                 ": fit it again with this version of Unisono"};
  try {
    Machine machine;
    machine.flavour = file.at("mpi").at("flavour").get<std::string>();
    machine.library = file.at("mpi").at("library").get<std::string>();
    for (int l = 0; l < kMessageLevels; ++l)
      if (file.at("levels").contains(kLevelNames[l]))
        machine.levels[l] = level_from(file.at("levels").at(kLevelNames[l]));
    machine.gamma = file.at("reduce_s_per_byte").get<double>();
    machine.copy = file.at("copy_s_per_byte").get<double>();
    if (const auto incast = file.find("incast"); incast != file.end())
      machine.incast = {incast->at("buffer_bytes").get<double>(),
                        incast->at("window_bytes").get<double>(),
                        incast->at("timeout_s").get<double>()};
    machine.credit = file.value("credit_bytes", 0.0);
    machine.wake = file.value("wake_s", 0.0);
    machine.shared_cores = file.value("shared_cores", 0);
    if (const auto memory = file.find("node_memory"); memory != file.end())
      machine.node_memory = memory_from(*memory);
    return machine;
  } catch (const Json::exception& error) {
    return Error{std::string("a broken machine file: ") + error.what()};
  }
}

}  // namespace unisono
