#include "select/spec.h"

#include <utility>

#include "select/composition_spec.h"
#include "select/parameters.h"

namespace unisono {

namespace {

/// The item "transport=..." of a grid's, or nothing; and the others.
std::pair<std::string_view, std::string> split_transport(std::string_view items) {
  std::string_view transport;
  std::string others;
  while (true) {
    const std::size_t comma = items.find(',');
    const std::string_view item = items.substr(0, comma);
    if (transport.empty() && item.starts_with("transport="))
      transport = item;
    else
      others += (others.empty() ? "" : ",") + std::string(item);
    if (comma == std::string_view::npos) return {transport, others};
    items.remove_prefix(comma + 1);
  }
}

}  // namespace

std::string valid_algorithms(Collective collective) {
  return "default, native" + algorithm_names(collective);
}

Result<Spec> parse_spec(Collective collective, std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view wanted = text.substr(0, colon);
  const std::string prefix = std::string(name(collective)) + ": ";

  if (wanted == "native" || wanted == "default") {
    if (colon != std::string_view::npos)
      return Error{prefix + std::string(wanted) + " takes no parameters"};
    return Spec{.is_default = wanted == "default"};
  }
  const Algorithm* algorithm = find_algorithm(collective, wanted);
  if (algorithm == nullptr)
    return Error{prefix + "no algorithm " + in_quotes(wanted) +
                 "; valid: " + valid_algorithms(collective)};

  Spec spec{.algorithm = algorithm, .params = default_params(*algorithm)};
  if (colon == std::string_view::npos) return spec;
  std::string_view rest = text.substr(colon + 1);
  if ((algorithm->restrictions & kComposed) != 0) {
    const auto [transport, others] = split_transport(rest);
    if (!transport.empty())
      if (const auto error = read_parameter(*algorithm, transport, spec.params))
        return Error{prefix + "grid: " + *error};
    if (!transport.empty() && others.empty()) return spec;
    const auto composition = parse_composition(collective, others);
    if (!composition) return Error{prefix + "grid: " + composition.error()};
    spec.params.composition = intern(*composition);
    return spec;
  }
  while (true) {
    const std::size_t comma = rest.find(',');
    if (const auto error = read_parameter(*algorithm, rest.substr(0, comma), spec.params))
      return Error{prefix + std::string(algorithm->name) + ": " + *error};
    if (comma == std::string_view::npos) return spec;
    rest.remove_prefix(comma + 1);
  }
}

Params with_standard_segment(const Algorithm& algorithm, Params params) {
  if (params.segment == kOpenSegment) params.segment = default_params(algorithm).segment;
  return params;
}

std::string text(const Spec& spec) {
  if (spec.algorithm == nullptr) return spec.is_default ? "default" : "native";
  std::string written(spec.algorithm->name);
  if (spec.params.composition != nullptr)
    written += ":" + composition_text(*spec.params.composition);
  const char opening = spec.params.composition != nullptr ? ',' : ':';
  return written + parameters_text(*spec.algorithm, spec.params, opening, ',');
}

}  // namespace unisono
