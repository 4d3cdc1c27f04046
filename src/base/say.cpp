#include "base/say.h"

#include <unistd.h>

#include <cstdio>

#include "base/printable.h"

namespace unisono {

namespace {

unisono_standard_error g_at_load = unisono_standard_error_now();

}  // namespace

void set_standard_error(const unisono_standard_error& at_load) { g_at_load = at_load; }

bool user_reads() noexcept { return unisono_user_reads(&g_at_load) != 0; }

void say(const std::string& text) {
  if (!user_reads()) return;
  // Whatever a file, a variable or an MPI library put into it, it stays one line.
  constexpr std::size_t kMostBytes = 2000;
  const std::string line = "unisono: " + printable(text, kMostBytes) + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

void say_in_need(const char* text) noexcept {
  if (user_reads()) dprintf(STDERR_FILENO, "unisono: %s\n", text);
}

}  // namespace unisono
