// Whether tests look at all that they can: `make thorough` does, and takes longer. What `make
// test` looks at of a sample is spread as evenly, and the same every time.
#pragma once
#include <cstdlib>
#include <string_view>

namespace unisono {

inline bool is_thorough() {
  const char* tests = std::getenv("UNISONO_TESTS");
  return tests != nullptr && std::string_view(tests) == "thorough";
}

}  // namespace unisono
