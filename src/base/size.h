// Sizes as people write them: 4096, 64K, 1M, 2G (powers of 1024).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace unisono {

/// Nothing when `text` is no such size, or larger than 2^63 - 1.
std::optional<std::int64_t> parse_size(std::string_view text);

/// The shortest exact form: 65536 is "64K", 1000 is "1000".
std::string format_size(std::int64_t bytes);

}  // namespace unisono
