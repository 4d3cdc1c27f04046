#include <nlohmann/json.hpp>

#include "algorithms/composition.h"
#include "base/config.h"
#include "base/size.h"
#include "base/version.h"
#include "select/composition_spec.h"
#include "select/parameters.h"
#include "tools/schedule/commands.h"

namespace unisono {

namespace {

using Json = nlohmann::ordered_json;

struct Named {
  unsigned bit;
  const char* name;
  const char* meaning;
};
constexpr Named kRestrictionNames[] = {
    {kCommutative, "commutative", "a commutative operation"},
    {kEvenSize, "even_size", "an even number of ranks"},
    {kPowerOfTwo, "power_of_two", "a power of two of ranks"},
    {kAllCounts, "all_counts", "the counts of all ranks on every rank"},
    {kMatrix, "matrix", "the whole count matrix on every rank"},
    {kOrder, "order", "counts of all ranks, or an order of messages made from others"},
    {kStored, "stored", "to spare these, a file with an order"},
    {kMulticast, "multicast", "one rank on each node, and a network between them that carries it"},
    {kCountedGroup, "counted_group", "a group of the ranks that get anything"},
    {kGraph, "graph", "a topology that hangs together, known on every rank"},
    {kTorus, "torus", "hosts of a torus, named in a topology file"},
    {kOneNode, "one_node",
     "all ranks on one node, with room in its shared memory; in reductions a predefined datatype"},
};

Json json(const Parameter& parameter) {
  return {{"name", parameter.name},       {"default", parameter.default_value},
          {"least", parameter.least},     {"most", parameter.most},
          {"is_size", parameter.is_size}, {"names", Json(parameter.names)},
          {"meaning", parameter.meaning}};
}

// In the order of the enumerators of schedule/semantics.h.
constexpr const char* kWho[] = {"nobody", "root", "all"};
constexpr const char* kShapes[] = {"nothing", "block", "blocks", "counts", "types"};
constexpr const char* kCombines[] = {"nobody", "all_ranks", "ranks_up_to", "ranks_before"};
constexpr const char* kInPlaces[] = {"nowhere", "root_send", "root_receive", "all", "each"};
constexpr const char* kMeasures[] = {"nothing", "vector", "block", "blocks"};
constexpr const char* kPeers[] = {"all", "neighbours"};

template <std::size_t kSize, class Enum>
constexpr const char* word(const char* const (&words)[kSize], Enum value) {
  return words[static_cast<std::size_t>(value)];
}

Json json(const CallSide& side) {
  return {{"who", word(kWho, side.who)}, {"shape", word(kShapes, side.shape)}};
}

Json json(const Semantics& row) {
  return {{"name", row.name},
          {"rooted", row.rooted},
          {"send", json(row.send)},
          {"receive", json(row.receive)},
          {"one_buffer", has_one_buffer(row)},
          {"combines", word(kCombines, row.combines)},
          {"in_place", word(kInPlaces, row.in_place)},
          {"measure", word(kMeasures, row.measure)},
          {"knows_bytes", word(kWho, row.knows_bytes)},
          {"regular", name(row.regular)},
          {"peers", word(kPeers, row.peers)},
          {"synchronises", synchronises(row)}};
}

Json json(const Algorithm& row) {
  Json collectives = Json::array();
  for (int c = 0; c < kCollectives; ++c)
    if (contains(row.collectives, static_cast<Collective>(c)))
      collectives.push_back(name(static_cast<Collective>(c)));
  Json restrictions = Json::array();
  for (const Named& named : kRestrictionNames)
    if ((row.restrictions & named.bit) != 0) restrictions.push_back(named.name);
  Json parameters = Json::array();
  for (const Parameter& parameter : row.parameters) parameters.push_back(json(parameter));
  // In a grid the rule of a node chooses among its protocols (composition.cpp).
  const bool names_protocol = (row.restrictions & kOneNode) != 0 && row.name != "shm";
  Json depends_on = Json::array();
  for (const std::string_view what : order_depends_on(row)) depends_on.push_back(what);
  Json transports = Json::array();
  if (sends_messages(row)) transports = kTransportNames;
  return {{"name", row.name},
          {"collectives", collectives},
          {"parameters", parameters},
          {"composed", (row.restrictions & kComposed) != 0},
          {"predicts", (row.restrictions & kPredicts) != 0},
          {"in_grids", (row.restrictions & (kComposed | kBindsPeers)) == 0 && !names_protocol},
          {"transports", transports},
          {"restrictions", restrictions},
          {"needs", restrictions_text(row.restrictions)},
          {"order", kOrderNames[static_cast<std::size_t>(row.combining.order)]},
          {"order_depends_on", depends_on},
          {"cost", row.cost},
          {"source", row.source}};
}

/// What a grid of each form is made of; with the names of its dimensions it says what can be asked
/// for.
Json forms_json() {
  Json rows = Json::array();
  for (int c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    for (const FormRow& form : forms_of(collective)) {
      Json in_rows = {name(form.first)};
      if (form.second) in_rows.push_back(name(*form.second));
      rows.push_back({{"collective", name(collective)},
                      {"form", kFormNames[static_cast<std::size_t>(form.form)]},
                      {"rows", in_rows},
                      {"columns", name(form.columns)},
                      {"full_grid", form.full_grid},
                      {"commutative", form.commutative}});
    }
  }
  return rows;
}

}  // namespace

std::string restrictions_text(unsigned restrictions) {
  std::string text;
  for (const Named& named : kRestrictionNames) {
    if ((restrictions & named.bit) == 0) continue;
    if (!text.empty()) text += ", ";
    text += named.meaning;
  }
  return text;
}

std::vector<std::string_view> order_depends_on(const Algorithm& row) {
  std::vector<std::string_view> names;
  for (std::size_t bit = 0; bit < kDependsOnNames.size(); ++bit)
    if ((row.combining.depends_on >> bit & 1) != 0) names.push_back(kDependsOnNames[bit]);
  return names;
}

std::string list(bool as_json) {
  if (as_json) {
    Json rows = Json::array();
    for (const Algorithm& row : catalogue()) rows.push_back(json(row));
    Json meanings = Json::array();
    for (const Semantics& row : kSemantics) meanings.push_back(json(row));
    return Json{{"version", UNISONO_VERSION},
                {"collectives", meanings},
                {"algorithms", rows},
                {"grid_dimensions", kDimensionNames},
                {"grid_forms", forms_json()}}
               .dump(2) +
           "\n";
  }
  std::string out;
  for (int c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    out += std::string(name(collective)) + ": " + valid_algorithms(collective) + "\n";
  }
  return out;
}

std::string variables(bool as_json) {
  if (as_json) {
    Json rows = Json::array();
    for (const Variable& row : kVariables)
      rows.push_back(
          {{"name", row.name}, {"default", row.default_value}, {"meaning", row.meaning}});
    return rows.dump(2) + "\n";
  }
  std::string out =
      "# Environment variables\n\n"
      "<!-- Written by `make generate` from src/base/config.h. -->\n\n"
      "Read once, in MPI_Init, and expected to be equal on all ranks. A value that is not valid "
      "is\n"
      "reported in one line on rank 0, and the default holds.\n\n"
      "`ALGORITHM` is `default`, `native` or `name[:parameter=value,...]`, such as\n"
      "`chain:segment=64K`; `unisono list` shows the names and [algorithms](../algorithms.md) what "
      "they cost.\n\n"
      "| variable | default | meaning |\n|---|---|---|\n";
  for (const Variable& row : kVariables)
    out += "| `" + std::string(row.name) + "` | " +
           (row.default_value.empty() ? "" : "`" + std::string(row.default_value) + "`") + " | " +
           std::string(row.meaning) + (row.meaning == kForced ? ": `ALGORITHM`" : "") + " |\n";
  return out;
}

}  // namespace unisono
