#include "specs.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "algorithms/composition.h"
#include "select/spec.h"

namespace conformance {

namespace {

std::string value_text(Rng& rng, const unisono::Parameter& parameter, long long value) {
  if (!parameter.names.empty())
    return std::string(rng.pick(std::vector(parameter.names.begin(), parameter.names.end())));
  return std::to_string(std::clamp<long long>(value, parameter.least, parameter.most));
}

/// As the model proposes them: memory within nodes, any algorithm between them.
Spec proposed_grid(Rng& rng, unisono::Collective collective, std::string text, unisono::Form form) {
  constexpr unsigned kCannot = unisono::kOneNode | unisono::kComposed | unisono::kBindsPeers;
  std::vector<const unisono::Algorithm*> serving;
  for (const unisono::Algorithm& candidate : unisono::catalogue())
    if (unisono::contains(candidate.collectives, unisono::find_form(collective, form)->columns) &&
        (candidate.restrictions & kCannot) == 0)
      serving.push_back(&candidate);
  const unisono::Algorithm& chosen = *rng.pick(serving);
  text += ",shape=nodes,rows=shm,columns=" + std::string(chosen.name);
  for (const unisono::Parameter& parameter : chosen.parameters) {
    if (rng.chance(40)) continue;
    const long long value = parameter.is_size ? rng.pick({64, 1024, 16384}) : rng.pick({1, 2, 3});
    text += "/" + std::string(parameter.name) + "=" + value_text(rng, parameter, value);
  }
  return spec_of(collective, text);
}

/// Forms with the MPI library's own in some phases; ragged shapes for the leaders.
Spec random_grid(Rng& rng, unisono::Collective collective) {
  std::vector<unisono::Form> forms;
  for (const unisono::FormRow& row : unisono::forms_of(collective)) forms.push_back(row.form);
  const auto form = static_cast<std::size_t>(rng.pick(forms));
  std::string text = "grid:form=" + std::string(unisono::kFormNames[form]);
  if (places_ranks() && rng.chance(50))
    return proposed_grid(rng, collective, text, static_cast<unisono::Form>(form));
  std::vector<std::string> shapes = {"2x2", "3x2", "2x3", "4x2", "2x2x2", "balanced", "nodes"};
  if (places_ranks()) shapes = {"nodes", "nodes", "switches/nodes", "switches"};
  text += ",shape=" + rng.pick(shapes);
  const std::vector<std::string> calls = {"native", "shm"};
  for (const char* dimension : {",rows=", ",columns="})
    if (rng.chance(60)) text += dimension + rng.pick(calls);
  return spec_of(collective, text);
}

}  // namespace

bool places_ranks() { return std::getenv("UNISONO_TOPOLOGY") != nullptr; }

Spec random_spec(Rng& rng, unisono::Collective collective) {
  if (rng.chance(3)) return {"native", nullptr};
  if (rng.chance(3)) return {"default", nullptr};
  std::vector<const unisono::Algorithm*> rows;
  for (const unisono::Algorithm& row : unisono::catalogue())
    if (unisono::contains(row.collectives, collective)) rows.push_back(&row);
  if (rows.empty()) return {"default", nullptr};
  const unisono::Algorithm* row = rng.pick(rows);
  const unisono::Algorithm* grid = unisono::find_algorithm(collective, "grid");
  const unisono::Algorithm* torus = unisono::find_algorithm(collective, "torus");
  if (grid != nullptr && places_ranks() && rng.chance(80)) row = grid;
  if (torus != nullptr && places_ranks() && rng.chance(30)) row = torus;
  if (row->restrictions & unisono::kComposed) return random_grid(rng, collective);
  std::string text(row->name);
  char separator = ':';
  for (const unisono::Parameter& parameter : row->parameters) {
    if (rng.chance(40)) continue;
    const long long value = parameter.is_size
                                ? rng.pick({1, 7, 64, 100, 1024, 1024, 4096, 4096, 16384, 65536})
                                : rng.pick({1, 2, 2, 3, 4, 5, 7, 8, 16, 64});
    text += separator + std::string(parameter.name) + "=" + value_text(rng, parameter, value);
    separator = ',';
  }
  // Ranks that a communicator may not have; two of them, or one.
  if ((row->restrictions & unisono::kPredicts) && rng.chance(70)) {
    const long long late = rng.pick({0, 1, 2, 3, 4, 9});
    text += separator + std::string("late=") + std::to_string(late);
    if (rng.chance(40)) text += "." + std::to_string(late + 1);
  }
  const Spec spec = spec_of(collective, text);
  return rng.chance(20) ? over_transport(collective, spec, "shm") : spec;
}

Spec over_transport(unisono::Collective collective, const Spec& spec, const std::string& what) {
  if (spec.algorithm == nullptr || (spec.algorithm->restrictions & unisono::kOneNode) != 0)
    return spec;
  const char separator = spec.text.find(':') == std::string::npos ? ':' : ',';
  return spec_of(collective, spec.text + separator + "transport=" + what);
}

Spec spec_of(unisono::Collective collective, const std::string& text) {
  const auto spec = unisono::parse_spec(collective, text);
  if (!spec || spec->algorithm == nullptr) return {text, nullptr, {}};
  return {text, spec->algorithm, spec->params};
}

}  // namespace conformance
