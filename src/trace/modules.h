// What code a process has mapped, and where: by this a return address becomes a line of a source.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace unisono::trace {

struct Module {
  std::string path;
  std::uint64_t start = 0, end = 0;  ///< addresses
  std::uint64_t offset = 0;          ///< of `start` in the file
  bool operator==(const Module&) const = default;
};

using Modules = std::vector<Module>;

/// The executable mappings of files among the lines of /proc/self/maps (proc(5)).
Modules executable_mappings(std::string_view maps);
/// Those of this process.
Modules executable_mappings();

bool covers(const Modules& modules, std::uint64_t address);

}  // namespace unisono::trace
