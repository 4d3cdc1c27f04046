// What lies at the limits of the only reader of JSON, or just beyond them.
#pragma once
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace unisono::fuzz {

/// The limits of the only reader of JSON, written once more, so that a change of one is noticed.
inline constexpr std::size_t kDepth = 64, kMembers = 64, kValues = 1 << 16, kBytes = 1 << 20,
                             kOfAnySize = 4096, kSpacing = 8, kGap = 1 << 16;

/// A number at the limit, or just beyond it.
inline std::size_t near(std::size_t limit, Random& random) { return limit - 1 + random.below(4); }

inline std::string repeated(std::string_view piece, std::size_t bytes) {
  std::string text;
  text.reserve(bytes + piece.size());
  while (!piece.empty() && text.size() < bytes) text += piece;
  return text;
}

inline std::string with_members_near_limit(Random& random) {
  std::string text = "{";
  for (std::size_t i = near(kMembers, random); i > 1; --i)
    text += "\"" + std::to_string(i) + "\":0,";
  return text + "\"last\":0}";
}

/// A value at one of the limits of JSON, or just beyond it, wherever it stands in a document.
inline std::string at_limit(Random& random) {
  switch (random.below(6)) {
    case 0: {
      const std::size_t depth = near(kDepth, random) - (random.one_in(2) ? random.below(4) : 0);
      return std::string(depth, '[') + std::string(depth, ']');
    }
    case 1: return with_members_near_limit(random);
    case 2: return "[" + repeated("0,", 2 * near(kValues, random) - 2) + "0]";
    case 3: return "[" + repeated("[],", 3 * kOfAnySize + random.below(4 * kOfAnySize)) + "0]";
    case 4: return "[" + std::string(near(kGap, random), random.one_in(2) ? ' ' : '\n') + "0]";
    default: return '"' + std::string(kBytes - random.below(600), 'x') + '"';
  }
}

/// Of JSON without an error: looks independently at whether it is within the limits.
inline bool is_within_limits(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::vector<std::size_t> members;  // of each list or object that is open; lists have none
  std::size_t values = 0, numbers = 0, gap = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    gap = kBlanks.find(c) != kBlanks.npos ? gap + 1 : 0;
    if (gap == kGap || members.size() > kDepth) return false;
    if (c == '[' || c == '{') {
      ++values;
      members.push_back(0);
    } else if (c == ']' || c == '}') {
      members.pop_back();
    } else if (c == ':') {
      --values;  // what stood before was a name
      if (++members.back() > kMembers) return false;
    } else if (c == '"') {
      ++values;
      while (text[++i] != '"') i += text[i] == '\\' ? 1 : 0;
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-') {
      ++values;
      numbers += std::isalpha(static_cast<unsigned char>(c)) != 0 ? 0 : 1;
      i = std::min(text.size(), text.find_first_of(" \t\r\n,]}", i)) - 1;
    }
  }
  return text.size() <= kBytes && values <= kValues &&
         values - numbers <= kOfAnySize + text.size() / kSpacing;
}

}  // namespace unisono::fuzz
