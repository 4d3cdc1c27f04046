#include "base/size.h"

#include <charconv>
#include <limits>

namespace unisono {

namespace {
constexpr std::string_view kSuffixes = "KMGT";

/// Where the unit stands in kSuffixes, from 1 on; 0: bytes. Nothing when it is no unit.
std::optional<int> power_of(std::string_view unit) {
  std::string lower(unit);
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  for (const std::string_view bytes : {"", "b", "byte", "bytes"})
    if (lower == bytes) return 0;
  const std::size_t power = kSuffixes.find(static_cast<char>(lower[0] - 'a' + 'A'));
  if (power == std::string_view::npos) return std::nullopt;
  for (const std::string_view rest : {"", "b", "ib"})
    if (std::string_view(lower).substr(1) == rest) return static_cast<int>(power) + 1;
  return std::nullopt;
}

std::string_view without_spaces_around(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}
}  // namespace

std::optional<std::int64_t> parse_size(std::string_view text) {
  text = without_spaces_around(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || text[0] == '-') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  const auto power = power_of(without_spaces_around(text));
  if (!power) return std::nullopt;
  const int shift = 10 * *power;
  if (value > (std::numeric_limits<std::int64_t>::max() >> shift)) return std::nullopt;
  return value << shift;
}

std::string format_size(std::int64_t bytes) {
  std::size_t power = 0;
  while (bytes != 0 && bytes % 1024 == 0 && power < kSuffixes.size()) {
    bytes /= 1024;
    ++power;
  }
  std::string text = std::to_string(bytes);
  if (power > 0) text += kSuffixes[power - 1];
  return text;
}

}  // namespace unisono
