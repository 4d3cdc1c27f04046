#include "base/printable.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace unisono {

namespace {

constexpr std::string_view kGap = " ... ";
constexpr std::size_t kLongestSubject = 90;
constexpr std::size_t kBeginning = 18;  // of the line: "unisono-schedule: " is the longest

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  ///< 0: no UTF-8
};

/// The first one of a text that has one.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t bytes = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code = byte(0) & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  if (code < kLeast[bytes] || code > 0x10FFFF || is_surrogate) return {};
  return {code, bytes};
}

/// Whether a terminal may do something else with it than to show it.
bool is_active(std::uint32_t code) {
  const auto within = [code](std::uint32_t least, std::uint32_t most) {
    return least <= code && code <= most;
  };
  return code < 0x20 || within(0x7F, 0x9F) || within(0x200B, 0x200F) || within(0x2028, 0x202E) ||
         within(0x2060, 0x206F) || code == 0xFEFF;
}

void append_escaped(std::string& result, const char* form, unsigned code) {
  char digits[12];
  std::snprintf(digits, sizeof digits, form, code);
  result += digits;
}

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character character = first_of(text);
    const std::size_t bytes = std::max<std::size_t>(1, character.bytes);
    if (character.bytes == 0 || (is_active(character.code) && character.code < 0x80))
      append_escaped(result, "\\x%02x", static_cast<unsigned char>(text.front()));
    else if (is_active(character.code))
      append_escaped(result, "\\u%04x", character.code);
    else
      result += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return result;
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  std::string whole;
  if (text.size() <= 4 * most)
    whole = escaped(text);
  else  // what would go anyway need not be looked at
    whole = escaped(text.substr(0, 2 * most)) + escaped(text.substr(text.size() - 2 * most));
  if (whole.size() <= most) return whole;
  const std::size_t room = most - std::min(most, kGap.size());
  std::size_t head = room - room / 3, tail = whole.size() - room / 3;
  while (head > 0 && continues(whole[head])) --head;
  while (tail < whole.size() && continues(whole[tail])) ++tail;
  return whole.substr(0, head) + std::string(kGap) + whole.substr(tail);
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMostBytes = 60;
  return "'" + printable(text, kMostBytes) + "'";
}

std::string line_about(std::string_view subject, std::string_view wrong, std::string_view so) {
  std::string line = printable(subject, kLongestSubject);
  if (!line.empty()) line += ": ";
  const std::string end = so.empty() ? "" : "; " + std::string(so);
  const std::size_t taken = std::min(kLongestLine, kBeginning + line.size() + end.size());
  return line + printable(wrong, kLongestLine - taken) + end;
}

}  // namespace unisono
