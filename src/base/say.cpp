#include "base/say.h"

#include <unistd.h>

namespace unisono {

void say(const std::string& text) {
  const std::string line = "unisono: " + text + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace unisono
