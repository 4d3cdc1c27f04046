#include "select/spec.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/size.h"

namespace unisono {

namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string value_text(const Parameter& parameter, Count value) {
  return parameter.is_size ? format_size(value) : std::to_string(value);
}

/// "segment (1 to 1G, standard 16K)"
std::string limits(const Parameter& parameter) {
  return std::string(parameter.name) + " (" + value_text(parameter, parameter.least) + " to " +
         value_text(parameter, parameter.most) + ", standard " +
         value_text(parameter, parameter.standard) + ")";
}

std::string valid_parameters(const Algorithm& algorithm) {
  if (algorithm.parameters.empty()) return "it takes none";
  std::string list = "valid: ";
  for (const Parameter& parameter : algorithm.parameters) {
    if (&parameter != algorithm.parameters.data()) list += ", ";
    list += limits(parameter);
  }
  return list;
}

std::optional<Count> parse_value(const Parameter& parameter, std::string_view text) {
  if (parameter.is_size) return parse_size(text);
  Count value = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || last != end) return std::nullopt;
  return value;
}

/// Reads one "name=value" into `params`; the error, or nothing.
std::optional<std::string> read_parameter(const Algorithm& algorithm, std::string_view item,
                                          Params& params) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos)
    return quoted(item) + " is not of the form parameter=value; " + valid_parameters(algorithm);
  const std::string_view name = item.substr(0, equals);
  const auto parameter =
      std::find_if(algorithm.parameters.begin(), algorithm.parameters.end(),
                   [name](const Parameter& candidate) { return candidate.name == name; });
  if (parameter == algorithm.parameters.end())
    return "no parameter " + quoted(name) + "; " + valid_parameters(algorithm);
  const std::optional<Count> value = parse_value(*parameter, item.substr(equals + 1));
  if (!value || *value < parameter->least || *value > parameter->most)
    return quoted(item) + " is not valid; " + limits(*parameter);
  params.*parameter->field = *value;
  return std::nullopt;
}

}  // namespace

std::string valid_algorithms(Collective collective) {
  std::string list = "default, native";
  for (const Algorithm& row : catalogue())
    if (contains(row.collectives, collective)) list += ", " + std::string(row.name);
  return list;
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
    return Error{prefix + "no algorithm " + quoted(wanted) +
                 "; valid: " + valid_algorithms(collective)};

  Spec spec{.algorithm = algorithm, .params = standard_params(*algorithm)};
  if (colon == std::string_view::npos) return spec;
  std::string_view rest = text.substr(colon + 1);
  while (true) {
    const std::size_t comma = rest.find(',');
    if (const auto error = read_parameter(*algorithm, rest.substr(0, comma), spec.params))
      return Error{prefix + std::string(algorithm->name) + ": " + *error};
    if (comma == std::string_view::npos) return spec;
    rest.remove_prefix(comma + 1);
  }
}

std::string text(const Spec& spec) {
  if (spec.algorithm == nullptr) return spec.is_default ? "default" : "native";
  std::string written(spec.algorithm->name);
  char separator = ':';
  for (const Parameter& parameter : spec.algorithm->parameters) {
    written += separator;
    written +=
        std::string(parameter.name) + "=" + value_text(parameter, spec.params.*parameter.field);
    separator = ',';
  }
  return written;
}

}  // namespace unisono
