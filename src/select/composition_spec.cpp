#include "select/composition_spec.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>

#include "select/parameters.h"

namespace unisono {

namespace {

constexpr std::string_view kValid =
    "valid: shape=RxC or PxRxC or balanced or levels (nodes, switches/nodes), form=leaders, full, "
    "lanes or split, and rows=, columns=, "
    "planes= with native or an algorithm (chain/segment=8K; two by +: binomial+ring)";

using Items = std::map<std::string_view, std::string_view>;

/// "name=value" by commas.
Result<Items> split(std::string_view text) {
  Items items;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      return Error{in_quotes(item) + ": " + std::string(kValid)};
    if (!items.emplace(item.substr(0, equals), item.substr(equals + 1)).second)
      return Error{std::string(item.substr(0, equals)) + " is given twice"};
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return items;
}

/// Numbers or levels; neither: balanced.
struct Shape {
  std::vector<int> lengths;
  std::vector<Level> levels;

  std::size_t dimensions() const {
    return std::max({std::size_t{2}, lengths.size(), levels.size() + 1});
  }
  void drop_rows() {
    if (!lengths.empty()) lengths.pop_back();
    if (!levels.empty()) levels.pop_back();
  }
};

/// "8x12"; nothing: these are no numbers.
std::optional<std::vector<int>> parse_lengths(std::string_view text) {
  std::vector<int> lengths;
  while (true) {
    const std::size_t cross = text.find('x');
    const std::string_view number = text.substr(0, cross);
    int length = 0;
    const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), length);
    if (code != std::errc{} || end != number.data() + number.size() || length < 1)
      return std::nullopt;
    lengths.push_back(length);
    if (cross == std::string_view::npos) return lengths;
    text.remove_prefix(cross + 1);
  }
}

/// "switches/nodes", from far to near.
Result<std::vector<Level>> parse_levels(std::string_view text) {
  std::vector<Level> levels;
  while (true) {
    const std::size_t slash = text.find('/');
    const auto level = level_named(text.substr(0, slash));
    if (!level) return Error{"no level " + in_quotes(text.substr(0, slash))};
    if (!levels.empty() && *level >= levels.back())
      return Error{"levels stand from far to near, as in switches/nodes"};
    levels.push_back(*level);
    if (slash == std::string_view::npos) return levels;
    text.remove_prefix(slash + 1);
  }
}

Result<Shape> parse_shape(std::string_view text) {
  if (text == "balanced") return Shape{};
  const Error error{"shape=" + std::string(text) + " is not valid; " + std::string(kValid)};
  Shape shape;
  if (!text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0) {
    auto lengths = parse_lengths(text);
    if (!lengths || lengths->size() < 2) return error;
    shape.lengths = std::move(*lengths);
  } else {
    auto levels = parse_levels(text);
    if (!levels) {
      std::string names;
      for (const std::string_view name : kLevelNames) names += " " + std::string(name);
      return Error{"shape=" + std::string(text) + ": " + levels.error() +
                   "; valid: RxC or PxRxC or balanced, or levels:" + names};
    }
    shape.levels = std::move(*levels);
  }
  if (shape.dimensions() > kDimensionNames.size()) return error;
  return shape;
}

Result<NestedSpec> parse_nested(Collective collective, std::string_view text) {
  if (text == "native") return NestedSpec{};
  const std::size_t slash = text.find('/');
  const std::string_view name = text.substr(0, slash);
  const Algorithm* algorithm = find_algorithm(collective, name);
  if (algorithm == nullptr)
    return Error{"no algorithm " + in_quotes(name) + " for " +
                 std::string(unisono::name(collective)) + "; valid: native" +
                 algorithm_names(collective)};
  NestedSpec spec{algorithm, default_params(*algorithm)};
  while (slash != std::string_view::npos) {
    text.remove_prefix(text.find('/') + 1);
    const std::size_t next = text.find('/');
    if (const auto error = read_parameter(*algorithm, text.substr(0, next), spec.params))
      return Error{std::string(name) + ": " + *error};
    if (spec.params.transport != TransportKind::mpi)
      return Error{"transport= is the whole grid's, not a phase's"};
    if (spec.params.segment == kOpenSegment)
      return Error{"segment=auto is not for a phase of a grid: give it a size"};
    if (next == std::string_view::npos) break;
  }
  return spec;
}

/// The one or two algorithms along a dimension.
Result<std::array<NestedSpec, 2>> parse_rows(const FormRow& form,
                                             std::optional<std::string_view> text) {
  const Collective second = form.second.value_or(form.first);
  if (!text) return std::array{textbook(form.first), textbook(second)};
  const std::size_t plus = text->find('+');
  if (plus != std::string_view::npos && !form.second)
    return Error{in_quotes(*text) + ": only " + std::string(name(form.first)) + " runs there"};
  const std::string hint =
      form.second ? " (the two algorithms of a phase are written first+second)" : "";
  const auto begins = parse_nested(form.first, text->substr(0, plus));
  if (!begins) return Error{begins.error() + hint};
  const auto ends =
      parse_nested(second, plus == std::string_view::npos ? *text : text->substr(plus + 1));
  if (!ends) return Error{ends.error() + hint};
  return std::array{*begins, *ends};
}

class Parser {
 public:
  explicit Parser(Items items) : items_(std::move(items)) {}

  /// The grid of this shape; kDimensionNames[level] is what its rows are called.
  Result<Composition> parse(Collective collective, Form form, const Shape& shape,
                            std::size_t level) const {
    const FormRow* row = find_form(collective, form);
    if (row == nullptr) row = find_form(collective, Form::leaders);
    Composition result{.shape = shape.lengths, .levels = shape.levels, .form = row->form};
    const auto rows = parse_rows(*row, value(kDimensionNames[level]));
    if (!rows) return Error{rows.error()};
    result.rows = *rows;
    const auto columns = shape.dimensions() > 2 ? nested(row->columns, form, shape, level)
                                                : plain(row->columns, level);
    if (!columns) return Error{columns.error()};
    result.columns = *columns;
    return result;
  }

  std::optional<std::string_view> value(std::string_view name) const {
    const auto item = items_.find(name);
    if (item == items_.end()) return std::nullopt;
    return item->second;
  }

 private:
  Result<NestedSpec> plain(Collective collective, std::size_t level) const {
    const auto text = value(kDimensionNames[level + 1]);
    return text ? parse_nested(collective, *text) : textbook(collective);
  }

  Result<NestedSpec> nested(Collective collective, Form form, Shape shape,
                            std::size_t level) const {
    shape.drop_rows();
    const auto others = parse(collective, form, shape, level + 1);
    if (!others) return Error{others.error()};
    NestedSpec spec{find_algorithm(collective, "grid"), {}};
    spec.params.composition = intern(*others);
    return spec;
  }

  Items items_;
};

std::string nested_text(const NestedSpec& spec) {
  if (spec.algorithm == nullptr) return "native";
  return std::string(spec.algorithm->name) +
         parameters_text(*spec.algorithm, spec.params, '/', '/');
}

std::string phases_text(const Composition& composition, std::size_t level) {
  std::string written = "," + std::string(kDimensionNames[level]) + "=";
  const std::string first = nested_text(composition.rows[0]);
  const std::string second = nested_text(composition.rows[1]);
  written += first == second ? first : first + "+" + second;
  if (const Composition* others = composition.columns.params.composition)
    return written + phases_text(*others, level + 1);
  return written + "," + std::string(kDimensionNames[level + 1]) + "=" +
         nested_text(composition.columns);
}

}  // namespace

Result<Composition> parse_composition(Collective collective, std::string_view text) {
  const auto items = split(text);
  if (!items) return Error{items.error()};
  for (const auto& [name, value] : *items)
    if (name != "shape" && name != "form" &&
        std::find(kDimensionNames.begin(), kDimensionNames.end(), name) == kDimensionNames.end())
      return Error{"no parameter " + in_quotes(name) + "; " + std::string(kValid)};
  const Parser parser(*items);
  const auto shape = parse_shape(parser.value("shape").value_or("balanced"));
  if (!shape) return Error{shape.error()};
  if (parser.value("planes") && shape->dimensions() < 3)
    return Error{"planes= needs a shape of three dimensions"};
  const std::string_view wanted = parser.value("form").value_or("leaders");
  const auto* form = std::find(kFormNames.begin(), kFormNames.end(), wanted);
  if (form == kFormNames.end())
    return Error{"form=" + std::string(wanted) + " is not valid; " + std::string(kValid)};
  const auto chosen = static_cast<Form>(form - kFormNames.begin());
  if (find_form(collective, chosen) == nullptr) {
    std::string valid;
    for (const FormRow& row : forms_of(collective))
      valid += " " + std::string(kFormNames[static_cast<std::size_t>(row.form)]);
    return Error{"no form " + std::string(wanted) + "; valid:" + valid};
  }
  return parser.parse(collective, chosen, *shape, 0);
}

std::string composition_text(const Composition& composition) {
  std::string shape;
  for (const int length : composition.shape)
    shape += (shape.empty() ? "" : "x") + std::to_string(length);
  for (const Level level : composition.levels)
    shape += (shape.empty() ? "" : "/") + std::string(kLevelNames[static_cast<std::size_t>(level)]);
  return "shape=" + (shape.empty() ? "balanced" : shape) +
         ",form=" + std::string(kFormNames[static_cast<std::size_t>(composition.form)]) +
         phases_text(composition, 0);
}

}  // namespace unisono
