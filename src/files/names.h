// The names that Unisono gives files in its own folder. Nothing else there is ever removed: a user
// may keep files of their own in it. python/unisono/core/memory.py has the same rule.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace unisono {

/// "mpich-0123456789abcdef.json": what jobs keep for each other. Of the MPI library's name, letters
/// count.
std::string memory_name(std::string_view flavour, std::uint64_t hash);
bool is_memory_name(std::string_view name);

/// Such a name with ".part." and what part_of() put behind it: a file that was being written.
bool is_part_of_memory(std::string_view name);

/// A name beside `path` under which the file is written first. Random, since hosts that share a
/// folder count their processes alike.
std::string part_of(const std::string& path);

}  // namespace unisono
