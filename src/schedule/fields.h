// Fields of JSON that may have been written by hand or elsewhere: every error says what is wrong.
#pragma once
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "schedule/schedule.h"

namespace unisono {

using Json = nlohmann::ordered_json;

/// What is wrong with a document: thrown and caught within its reader, which knows the place.
struct Bad {
  std::string what;

  /// What it quotes may have control characters.
  std::string line() const {
    std::string text = what;
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, '?');
    return text;
  }
};

inline const Json& field(const Json& object, const char* name) {
  if (!object.is_object()) throw Bad{"not an object"};
  const auto it = object.find(name);
  if (it == object.end()) throw Bad{std::string("'") + name + "' is missing"};
  return *it;
}

inline std::string word(const Json& object, const char* name) {
  const Json& value = field(object, name);
  if (!value.is_string()) throw Bad{std::string(name) + " is not a text"};
  return value.get<std::string>();
}

inline Count integer(const Json& value, const char* what, Count least, Count most) {
  if (!value.is_number_integer()) throw Bad{std::string(what) + " is not an integer"};
  const bool too_large =
      value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(most);
  if (too_large || value.get<Count>() < least || value.get<Count>() > most)
    throw Bad{std::string(what) + " is " + value.dump() + ", not within " + std::to_string(least) +
              " to " + std::to_string(most)};
  return value.get<Count>();
}

}  // namespace unisono
