// The only reader of JSON, which may have been written by hand or elsewhere. What is wrong is
// thrown as Bad within a reader of a kind of document, and becomes one line where result_of() ends.
#pragma once
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/printable.h"
#include "base/result.h"

namespace unisono {

using Json = nlohmann::ordered_json;

/// What is wrong with a document.
struct Bad {
  std::string what;
};

/// What a document may have. A bad one of a megabyte costs 50 ms at most. Objects of Unisono have a
/// dozen members; since looking for one passes all before it, more than kMostMembers are refused.
/// Lists, objects and texts cost the most, and no file of Unisono has one every kLeastSpacing
/// bytes; before an error the parser spends 70 ns on each blank of the gap there.
struct JsonLimits {
  std::size_t bytes = std::size_t{1} << 20;
  std::size_t values = std::size_t{1} << 16;  ///< numbers, texts, lists, objects, ...
};
inline constexpr std::size_t kMostDepth = 64, kMostMembers = 64;
inline constexpr std::size_t kLeastSpacing = 8, kOfAnySpacing = 4096,
                             kMostGap = std::size_t{1} << 16;

/// For what is as large as a job: schedules, orders of messages, and what the command line asks of
/// the tools. A bad one costs no more than a good one of its size.
inline constexpr JsonLimits kLargeJson{std::size_t{64} << 20, std::size_t{16} << 20};

/// Texts are UTF-8, numbers finite, and no member is there twice. Throws Bad.
Json parse_json(std::string_view text, const JsonLimits& limits = {});

/// The value, as short as a line needs.
std::string shown(const Json& value);

/// What `read` returns, or as an error of one line the Bad that it throws.
template <class Read>
auto result_of(Read read) -> Result<decltype(read())> {
  constexpr std::size_t kMostBytes = 240;
  try {
    return read();
  } catch (const Bad& bad) {
    return Error{printable(bad.what, kMostBytes)};
  }
}

inline const Json* field_if_any(const Json& object, const char* name) {
  if (!object.is_object()) throw Bad{"not an object"};
  const auto it = object.find(name);
  return it == object.end() ? nullptr : &*it;
}

inline const Json& field(const Json& object, const char* name) {
  if (const Json* value = field_if_any(object, name)) return *value;
  throw Bad{std::string("'") + name + "' is missing"};
}

/// The elements of a field that is a list.
inline const Json& list(const Json& object, const char* name) {
  const Json& value = field(object, name);
  if (!value.is_array()) throw Bad{std::string(name) + " is not a list"};
  return value;
}

inline std::string word(const Json& object, const char* name) {
  const Json& value = field(object, name);
  if (!value.is_string()) throw Bad{std::string(name) + " is not a text"};
  return value.get<std::string>();
}

inline bool truth(const Json& object, const char* name) {
  const Json& value = field(object, name);
  if (!value.is_boolean()) throw Bad{std::string(name) + " is neither true nor false"};
  return value.get<bool>();
}

std::int64_t integer(const Json& value, const char* what, std::int64_t least, std::int64_t most);
double number(const Json& value, const char* what, double least, double most);

/// Of a field that may be left out.
inline double number_or(double otherwise, const Json& object, const char* name, double least,
                        double most) {
  const Json* value = field_if_any(object, name);
  return value != nullptr ? number(*value, name, least, most) : otherwise;
}

/// As an int, of a field.
inline int whole(const Json& object, const char* name, int least,
                 int most = std::numeric_limits<int>::max()) {
  return static_cast<int>(integer(field(object, name), name, least, most));
}

inline int whole_or(int otherwise, const Json& object, const char* name, int least,
                    int most = std::numeric_limits<int>::max()) {
  return field_if_any(object, name) != nullptr ? whole(object, name, least, most) : otherwise;
}

}  // namespace unisono
