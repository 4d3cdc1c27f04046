#include "base/say.h"

#include <unistd.h>

#include <cstdio>

namespace unisono {

void say(const std::string& text) {
  const std::string line = "unisono: " + text + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

void say_in_need(const char* text) noexcept { dprintf(STDERR_FILENO, "unisono: %s\n", text); }

}  // namespace unisono
