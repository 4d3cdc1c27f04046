#include "base/size.h"

#include <charconv>
#include <limits>

namespace unisono {

namespace {
constexpr std::string_view kSuffixes = "KMGT";
}

std::optional<std::int64_t> parse_size(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.empty()) return value;
  const char letter = text[0] >= 'a' ? static_cast<char>(text[0] - 'a' + 'A') : text[0];
  const std::size_t power = kSuffixes.find(letter);
  if (power == std::string_view::npos) return std::nullopt;
  text.remove_prefix(1);
  if (!text.empty() && text != "B" && text != "iB") return std::nullopt;
  const int shift = 10 * (static_cast<int>(power) + 1);
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
