// What the command line tools have in common: what they say on success, one line and status 2 on
// failure.
#pragma once
#include <CLI/CLI.hpp>

#include <exception>
#include <functional>
#include <iostream>
#include <string>

#include "base/printable.h"

namespace unisono {

/// Writes what `answer` says once the arguments are parsed. The status of the process: 0; 2 where
/// the arguments are wrong, or anything throws.
inline int run_tool(CLI::App& app, const char* name, int argc, char** argv,
                    const std::function<std::string()>& answer) {
  try {
    app.parse(argc, argv);
    std::cout << answer();
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const std::exception& error) {
    constexpr std::size_t kMostBytes = 2000;
    std::cerr << name << ": " << printable(error.what(), kMostBytes) << '\n';
    return 2;
  }
  return 0;
}

}  // namespace unisono
