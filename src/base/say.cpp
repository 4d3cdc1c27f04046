#include "base/say.h"

#include <unistd.h>

#include <cstdio>

#include "base/printable.h"

namespace unisono {

void say(const std::string& text) {
  // Whatever a file, a variable or an MPI library put into it, it stays one line.
  constexpr std::size_t kMostBytes = 2000;
  const std::string line = "unisono: " + printable(text, kMostBytes) + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

void say_in_need(const char* text) noexcept { dprintf(STDERR_FILENO, "unisono: %s\n", text); }

}  // namespace unisono
