// FNV-1a, 64 bits (Fowler, Noll, Vo): for telling texts apart, not for secrets.
#pragma once
#include <cstdint>
#include <string_view>

namespace unisono {

inline constexpr std::uint64_t kHashStart = 0xcbf29ce484222325ULL;

/// Continues the hash of what came before.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = kHashStart) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace unisono
