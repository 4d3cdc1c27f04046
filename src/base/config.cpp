#include "base/config.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cstdlib>
#include <iterator>

#include "base/launcher.h"
#include "base/printable.h"

namespace unisono {

namespace {

const Variable* row_of(std::string_view name) {
  const auto* row = std::find_if(std::begin(kVariables), std::end(kVariables),
                                 [name](const Variable& v) { return v.name == name; });
  assert(row != std::end(kVariables));
  return row;
}

}  // namespace

bool is_standard(std::string_view name) { return variable(name) == row_of(name)->default_value; }

std::string variable(std::string_view name) {
  const auto* row = row_of(name);
  // The names in the table are literals, so they end with a zero.
  const char* value = std::getenv(row->name.data());
  return value != nullptr ? std::string(value) : std::string(row->default_value);
}

std::string setting(std::string_view name) {
  constexpr std::size_t kMostBytes = 160;  // most paths whole
  return std::string(name) + "=" + printable(variable(name), kMostBytes);
}

bool is_switched_off() { return unisono_is_switched_off() != 0; }

std::string variable_of_collective(std::string_view collective) {
  std::string name = "UNISONO_";
  for (const char c : collective)
    name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace unisono
