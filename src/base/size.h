// Sizes as people and our own outputs write them: 4096, 64K, 512KB, "1 MiB", 2G. Units are powers
// of 1024, in upper or lower case; python/unisono/core/amounts.py accepts the same
// (tests/base/sizes.inc).
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
