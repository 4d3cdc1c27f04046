#include "trace/modules.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace unisono::trace {

Modules executable_mappings(std::string_view maps) {
  Modules found;
  std::istringstream lines{std::string(maps)};
  for (std::string line; std::getline(lines, line);) {
    // 55e0-55f0 r-xp 00001000 fe:01 1234   /usr/bin/app
    std::istringstream fields(line);
    Module module;
    std::string rights, device, inode;
    char dash = 0;
    fields >> std::hex >> module.start >> dash >> module.end >> rights >> module.offset >> device >>
        inode >> std::ws;
    std::getline(fields, module.path);
    if (rights.find('x') != rights.npos && module.path.starts_with('/')) found.push_back(module);
  }
  return found;
}

// Files of /proc have no size to ask for.
Modules executable_mappings() {
  std::ifstream file("/proc/self/maps");
  return executable_mappings(std::string(std::istreambuf_iterator(file), {}));
}

bool covers(const Modules& modules, std::uint64_t address) {
  return std::any_of(modules.begin(), modules.end(),
                     [address](const Module& m) { return m.start <= address && address < m.end; });
}

}  // namespace unisono::trace
