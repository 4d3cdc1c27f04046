#include "select/parameters.h"

#include <algorithm>
#include <charconv>

#include "base/size.h"

namespace unisono {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

namespace {

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

}  // namespace

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

std::string parameters_text(const Algorithm& algorithm, const Params& params, char opening,
                            char separator) {
  std::string written;
  for (const Parameter& parameter : algorithm.parameters) {
    written += written.empty() ? opening : separator;
    written += std::string(parameter.name) + "=" + value_text(parameter, params.*parameter.field);
  }
  return written;
}

std::string algorithm_names(Collective collective) {
  std::string list;
  for (const Algorithm& row : catalogue())
    if (contains(row.collectives, collective)) list += ", " + std::string(row.name);
  return list;
}

}  // namespace unisono
