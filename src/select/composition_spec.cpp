#include "select/composition_spec.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "select/parameters.h"

namespace unisono {

namespace {

constexpr std::string_view kValid =
    "valid: shape=RxC or PxRxC or balanced, form=leaders or full or lanes, and rows=, columns=, "
    "planes= with native or an algorithm (chain/segment=8K; two by +: binomial+ring)";

using Items = std::map<std::string_view, std::string_view>;

/// "name=value" by commas.
Result<Items> split(std::string_view text) {
  Items items;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) return Error{quoted(item) + ": " + std::string(kValid)};
    if (!items.emplace(item.substr(0, equals), item.substr(equals + 1)).second)
      return Error{std::string(item.substr(0, equals)) + " is given twice"};
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return items;
}

Result<std::vector<int>> parse_shape(std::string_view text) {
  std::vector<int> shape;
  if (text == "balanced") return shape;
  const Error error{"shape=" + std::string(text) + " is not valid; " + std::string(kValid)};
  while (true) {
    const std::size_t cross = text.find('x');
    const std::string_view number = text.substr(0, cross);
    int length = 0;
    const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), length);
    if (code != std::errc{} || end != number.data() + number.size() || length < 1) return error;
    shape.push_back(length);
    if (cross == std::string_view::npos) break;
    text.remove_prefix(cross + 1);
  }
  if (shape.size() < 2 || shape.size() > kDimensionNames.size()) return error;
  return shape;
}

Result<Inner> parse_inner(Collective collective, std::string_view text) {
  if (text == "native") return Inner{};
  const std::size_t slash = text.find('/');
  const std::string_view name = text.substr(0, slash);
  const Algorithm* algorithm = find_algorithm(collective, name);
  if (algorithm == nullptr)
    return Error{"no algorithm " + quoted(name) + " for " + std::string(unisono::name(collective)) +
                 "; valid: native" + algorithm_names(collective)};
  Inner inner{algorithm, default_params(*algorithm)};
  while (slash != std::string_view::npos) {
    text.remove_prefix(text.find('/') + 1);
    const std::size_t next = text.find('/');
    if (const auto error = read_parameter(*algorithm, text.substr(0, next), inner.params))
      return Error{std::string(name) + ": " + *error};
    if (inner.params.transport != TransportKind::mpi)
      return Error{"transport= is the whole grid's, not a phase's"};
    if (next == std::string_view::npos) break;
  }
  return inner;
}

/// The one or two algorithms along a dimension.
Result<std::array<Inner, 2>> parse_rows(const FormRow& form, std::optional<std::string_view> text) {
  const Collective second = form.second.value_or(form.first);
  if (!text) return std::array{textbook(form.first), textbook(second)};
  const std::size_t plus = text->find('+');
  if (plus != std::string_view::npos && !form.second)
    return Error{quoted(*text) + ": only " + std::string(name(form.first)) + " runs there"};
  const std::string hint =
      form.second ? " (the two algorithms of a phase are written first+second)" : "";
  const auto begins = parse_inner(form.first, text->substr(0, plus));
  if (!begins) return Error{begins.error() + hint};
  const auto ends =
      parse_inner(second, plus == std::string_view::npos ? *text : text->substr(plus + 1));
  if (!ends) return Error{ends.error() + hint};
  return std::array{*begins, *ends};
}

class Parser {
 public:
  explicit Parser(Items items) : items_(std::move(items)) {}

  /// The grid of shape[0 .. dimensions) or, without a shape, of so many dimensions: from
  /// kDimensionNames[level] on.
  Result<Composition> parse(Collective collective, Form form, std::vector<int> shape,
                            std::size_t level) const {
    const FormRow* row = find_form(collective, form);
    if (row == nullptr) row = find_form(collective, Form::leaders);
    Composition result{.shape = shape, .form = row->form};
    const auto rows = parse_rows(*row, value(kDimensionNames[level]));
    if (!rows) return Error{rows.error()};
    result.rows = *rows;
    const auto columns =
        shape.size() > 2 ? nested(row->columns, form, shape, level) : plain(row->columns, level);
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
  Result<Inner> plain(Collective collective, std::size_t level) const {
    const auto text = value(kDimensionNames[level + 1]);
    return text ? parse_inner(collective, *text) : textbook(collective);
  }

  Result<Inner> nested(Collective collective, Form form, std::vector<int> shape,
                       std::size_t level) const {
    shape.pop_back();
    const auto others = parse(collective, form, std::move(shape), level + 1);
    if (!others) return Error{others.error()};
    Inner inner{find_algorithm(collective, "grid"), {}};
    inner.params.composition = intern(*others);
    return inner;
  }

  Items items_;
};

std::string inner_text(const Inner& inner) {
  if (inner.algorithm == nullptr) return "native";
  return std::string(inner.algorithm->name) +
         parameters_text(*inner.algorithm, inner.params, '/', '/');
}

std::string phases_text(const Composition& composition, std::size_t level) {
  std::string written = "," + std::string(kDimensionNames[level]) + "=";
  const std::string first = inner_text(composition.rows[0]);
  const std::string second = inner_text(composition.rows[1]);
  written += first == second ? first : first + "+" + second;
  if (const Composition* others = composition.columns.params.composition)
    return written + phases_text(*others, level + 1);
  return written + "," + std::string(kDimensionNames[level + 1]) + "=" +
         inner_text(composition.columns);
}

}  // namespace

Result<Composition> parse_composition(Collective collective, std::string_view text) {
  const auto items = split(text);
  if (!items) return Error{items.error()};
  for (const auto& [name, value] : *items)
    if (name != "shape" && name != "form" &&
        std::find(kDimensionNames.begin(), kDimensionNames.end(), name) == kDimensionNames.end())
      return Error{"no parameter " + quoted(name) + "; " + std::string(kValid)};
  const Parser parser(*items);
  const auto shape = parse_shape(parser.value("shape").value_or("balanced"));
  if (!shape) return Error{shape.error()};
  if (parser.value("planes") && shape->size() < 3)
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
  return "shape=" + (shape.empty() ? "balanced" : shape) +
         ",form=" + std::string(kFormNames[static_cast<std::size_t>(composition.form)]) +
         phases_text(composition, 0);
}

}  // namespace unisono
