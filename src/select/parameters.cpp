#include "select/parameters.h"

#include <algorithm>
#include <charconv>

#include "base/size.h"
#include "patterns/arrival.h"
#include "select/stored_order.h"

namespace unisono {

namespace {

constexpr std::string_view kAuto = "auto";

bool is_segment(const Parameter& parameter) { return parameter.field == &Params::segment; }

std::string value_text(const Parameter& parameter, Count value) {
  if (is_segment(parameter) && value == kOpenSegment) return std::string(kAuto);
  if (!parameter.names.empty())
    return std::string(parameter.names[static_cast<std::size_t>(value - parameter.least)]);
  return parameter.is_size ? format_size(value) : std::to_string(value);
}

/// "segment (1 to 1G or auto, default 16K)", "trees (auto, 2k or raster, default auto)"
std::string limits(const Parameter& parameter) {
  if (!parameter.names.empty()) {
    std::string list;
    for (const std::string_view name : parameter.names)
      list += (list.empty()                     ? ""
               : name == parameter.names.back() ? " or "
                                                : ", ") +
              std::string(name);
    return std::string(parameter.name) + " (" + list + ", default " +
           value_text(parameter, parameter.default_value) + ")";
  }
  return std::string(parameter.name) + " (" + value_text(parameter, parameter.least) + " to " +
         value_text(parameter, parameter.most) +
         (is_segment(parameter) ? " or auto, default " : ", default ") +
         value_text(parameter, parameter.default_value) + ")";
}

constexpr std::string_view kLate = "late";
constexpr std::string_view kLateLimits =
    "late (ranks predicted to arrive last, different ones, the very last one last: 5.7; default: "
    "the last rank)";

constexpr std::string_view kTransport = "transport", kMpi = kTransportNames[0],
                           kShm = kTransportNames[1];
constexpr std::string_view kTransportLimits =
    "transport (shm: its messages go through the memory of the node; default: mpi)";

constexpr std::string_view kFile = "file";
constexpr std::string_view kFileLimits =
    "file (that unisono schedule make has written; no comma in its name)";

bool is_stored(const Algorithm& algorithm) { return (algorithm.restrictions & kStored) != 0; }
bool predicts(const Algorithm& algorithm) { return (algorithm.restrictions & kPredicts) != 0; }

std::string valid_parameters(const Algorithm& algorithm) {
  std::string list;
  const auto add = [&list](std::string_view one) {
    list += (list.empty() ? "valid: " : ", ") + std::string(one);
  };
  for (const Parameter& parameter : algorithm.parameters) add(limits(parameter));
  if (predicts(algorithm)) add(kLateLimits);
  if (is_stored(algorithm)) add(kFileLimits);
  if (sends_messages(algorithm)) add(kTransportLimits);
  return list.empty() ? "it takes none" : list;
}

std::optional<Count> parse_value(const Parameter& parameter, std::string_view text) {
  if (parameter.is_size) return parse_size(text);
  if (const auto at = std::find(parameter.names.begin(), parameter.names.end(), text);
      at != parameter.names.end())
    return parameter.least + (at - parameter.names.begin());
  if (!parameter.names.empty()) return std::nullopt;
  Count value = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || last != end) return std::nullopt;
  return value;
}

/// "5.7": interned, or nullptr if it is not a list of different ranks.
const std::vector<int>* parse_ranks(std::string_view text) {
  std::vector<int> ranks;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view number = text.substr(0, dot);
    int rank = 0;
    const char* end = number.data() + number.size();
    const auto [last, error] = std::from_chars(number.data(), end, rank);
    const bool known = std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
    if (error != std::errc{} || last != end || rank < 0 || known) return nullptr;
    ranks.push_back(rank);
    if (dot == std::string_view::npos) return intern(ranks);
    text.remove_prefix(dot + 1);
  }
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string written;
  for (const int rank : ranks) written += (written.empty() ? "" : ".") + std::to_string(rank);
  return written;
}

}  // namespace

bool sends_messages(const Algorithm& algorithm) { return (algorithm.restrictions & kOneNode) == 0; }

std::optional<std::string> read_parameter(const Algorithm& algorithm, std::string_view item,
                                          Params& params) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos)
    return in_quotes(item) + " is not of the form parameter=value; " + valid_parameters(algorithm);
  const std::string_view name = item.substr(0, equals);
  if (predicts(algorithm) && name == kLate) {
    const auto* ranks = parse_ranks(item.substr(equals + 1));
    if (ranks == nullptr) return in_quotes(item) + " is not valid; " + std::string(kLateLimits);
    params.late = ranks;
    return std::nullopt;
  }
  if (is_stored(algorithm) && name == kFile) {
    if (item.size() == equals + 1)
      return in_quotes(item) + " names no file; " + std::string(kFileLimits);
    params.file = intern_name(item.substr(equals + 1));
    return std::nullopt;
  }
  if (sends_messages(algorithm) && name == kTransport) {
    const std::string_view value = item.substr(equals + 1);
    if (value != kMpi && value != kShm)
      return in_quotes(item) + " is not valid; " + std::string(kTransportLimits);
    params.transport = value == kShm ? TransportKind::shm : TransportKind::mpi;
    return std::nullopt;
  }
  const auto parameter =
      std::find_if(algorithm.parameters.begin(), algorithm.parameters.end(),
                   [name](const Parameter& candidate) { return candidate.name == name; });
  if (parameter == algorithm.parameters.end())
    return "no parameter " + in_quotes(name) + "; " + valid_parameters(algorithm);
  if (is_segment(*parameter) && item.substr(equals + 1) == kAuto) {
    params.segment = kOpenSegment;
    return std::nullopt;
  }
  const std::optional<Count> value = parse_value(*parameter, item.substr(equals + 1));
  if (!value || *value < parameter->least || *value > parameter->most)
    return in_quotes(item) + " is not valid; " + limits(*parameter);
  params.*parameter->field = *value;
  return std::nullopt;
}

std::string parameters_text(const Algorithm& algorithm, const Params& params, char opening,
                            char separator) {
  std::string written;
  const auto add = [&](std::string_view name, const std::string& value) {
    written += written.empty() ? opening : separator;
    written += std::string(name) + "=" + value;
  };
  for (const Parameter& parameter : algorithm.parameters)
    add(parameter.name, value_text(parameter, params.*parameter.field));
  if (params.late != nullptr) add(kLate, ranks_text(*params.late));
  if (params.file != nullptr) add(kFile, *params.file);
  if (params.transport == TransportKind::shm) add(kTransport, std::string(kShm));
  return written;
}

std::string algorithm_names(Collective collective) {
  std::string list;
  for (const Algorithm& row : catalogue())
    if (contains(row.collectives, collective)) list += ", " + std::string(row.name);
  return list;
}

}  // namespace unisono
