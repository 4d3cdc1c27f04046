#include "topology/name_lists.h"

#include <algorithm>
#include <charconv>

namespace unisono {

namespace {

std::string padded(int value, std::size_t digits) {
  const std::string text = std::to_string(value);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

/// Whether so many names of this length may be added.
bool take(std::size_t names, std::size_t length, std::ptrdiff_t& left) {
  const auto of_one = static_cast<std::ptrdiff_t>(length) + kOfAName;
  left -= std::min(static_cast<std::ptrdiff_t>(names), kMostCharacters) * of_one;
  return left >= 0;
}

/// The names of one item, which may have numbers in brackets, behind `names`; false: it is wrong.
bool expand(std::string_view item, std::vector<std::string>& names, std::ptrdiff_t& left) {
  const std::size_t open = item.find('[');
  if (open == std::string_view::npos) {
    if (!take(1, item.size(), left)) return false;
    names.emplace_back(item);
    return item.find(']') == std::string_view::npos;
  }
  const std::size_t close = item.find(']', open);
  if (close == std::string_view::npos || item.find('[', close) != std::string_view::npos)
    return false;
  const auto ranges = by_commas(item.substr(open + 1, close - open - 1));
  if (!ranges) return false;
  const std::string before(item.substr(0, open)), behind(item.substr(close + 1));
  for (const std::string_view text : *ranges) {
    const auto numbers = number_range(text);
    if (!numbers) return false;
    const auto count = static_cast<std::size_t>(numbers->last - numbers->first) + 1;
    if (!take(count, before.size() + behind.size() + numbers->digits, left)) return false;
    for (int i = numbers->first; i <= numbers->last; ++i) {
      std::string name = before;
      name += padded(i, numbers->digits);
      names.push_back(name + behind);
    }
  }
  return true;
}

}  // namespace

std::string_view without_domain(std::string_view host) { return host.substr(0, host.find('.')); }

std::optional<int> plain_number(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc{} && end == text.data() + text.size();
  if (!whole || text.size() > 9 || text.front() == '-') return std::nullopt;
  return value;
}

std::optional<NumberRange> number_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view from = text.substr(0, dash);
  const auto first = plain_number(from);
  const auto last = dash == std::string_view::npos ? first : plain_number(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return NumberRange{*first, *last, from.size()};
}

std::optional<std::vector<std::string_view>> by_commas(std::string_view list) {
  std::vector<std::string_view> items;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') inside = true;
    if (i < list.size() && list[i] == ']') inside = false;
    if (i < list.size() && (list[i] != ',' || inside)) continue;
    if (i == begin) return std::nullopt;
    items.push_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  return items;
}

std::optional<std::vector<std::string>> names_in(std::string_view list, std::ptrdiff_t& left) {
  const auto items = by_commas(list);
  std::vector<std::string> names;
  if (!items || !std::all_of(items->begin(), items->end(),
                             [&](std::string_view item) { return expand(item, names, left); }))
    return std::nullopt;
  return names;
}

std::string no_names(std::string_view key, std::string_view list, std::ptrdiff_t left) {
  const char* why = left < 0 ? " names more nodes than any machine has" : " is no list of names";
  return std::string(key) + "=" + std::string(list) + why;
}

}  // namespace unisono
