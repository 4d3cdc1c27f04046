#include "files/json.h"

#include <algorithm>
#include <vector>

namespace unisono {

namespace {

/// "line 3, column 7" of the byte-th character, counted from 1.
std::string place_in(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte > 0 ? byte - 1 : 0);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// Whether so many blanks follow each other somewhere.
bool has_gap(std::string_view text, std::size_t bytes) {
  std::size_t blanks = 0;
  return std::any_of(text.begin(), text.end(), [&](char c) {
    blanks = c == ' ' || c == '\n' || c == '\t' || c == '\r' ? blanks + 1 : 0;
    return blanks == bytes;
  });
}

/// Makes a document of what the library's parser finds, and stops it at the limits. The parser does
/// not recur, so that no depth of nesting ends the process.
class Builder {
 public:
  Builder(std::string_view text, const JsonLimits& limits)
      : text_(text),
        values_left_(limits.values),
        costly_left_(kOfAnySpacing + text.size() / kLeastSpacing) {}

  Json take() { return std::move(root_); }

  // What nlohmann::json::sax_parse() calls.
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) { return add(value); }
  bool number_float(double value, const std::string& /*written*/) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t& /*value*/) { throw Bad{"it is no JSON"}; }
  bool start_object(std::size_t /*size*/) { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    const Json& object = *open_.back();
    if (object.size() >= kMostMembers)
      throw Bad{"an object has more than " + std::to_string(kMostMembers) + " members"};
    if (object.contains(name)) throw Bad{in_quotes(name) + " is there twice in one object"};
    name_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t byte, const std::string& /*token*/, const Json::exception& error) {
    constexpr int kOutOfRange = 406;  // a number that no double holds
    throw Bad{
        (error.id == kOutOfRange ? "it has a number that is too large at " : "it is no JSON at ") +
        place_in(text_, byte)};
  }

 private:
  Json* place(Json value) {
    if (values_left_-- == 0) throw Bad{"it holds too many values"};
    if (!value.is_number() && costly_left_-- == 0)
      throw Bad{"it holds too many lists, objects and texts for its size"};
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& into = *open_.back();
    if (into.is_array()) {
      into.push_back(std::move(value));
      return &into.back();
    }
    return &into.emplace(std::move(name_), std::move(value)).first.value();
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() >= kMostDepth)
      throw Bad{"it is nested more than " + std::to_string(kMostDepth) + " deep"};
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  std::size_t values_left_, costly_left_;
  Json root_;
  std::vector<Json*> open_;  // each in the one before, which gets no other element meanwhile
  std::string name_;
};

}  // namespace

Json parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes)
    throw Bad{"it has more than the " + std::to_string(limits.bytes) + " bytes that it may have"};
  if (has_gap(text, kMostGap)) throw Bad{"it has " + std::to_string(kMostGap) + " blanks in a row"};
  Builder builder(text, limits);
  Json::sax_parse(text, &builder);
  return builder.take();
}

std::string shown(const Json& value) {
  constexpr std::size_t kMostBytes = 60, kMostElements = 8;
  if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
  if (value.is_object()) return "an object";
  if (value.size() > kMostElements) return "a list of " + std::to_string(value.size());
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace), kMostBytes);
}

std::int64_t integer(const Json& value, const char* what, std::int64_t least, std::int64_t most) {
  if (!value.is_number_integer()) throw Bad{std::string(what) + " is not an integer"};
  const bool too_large = value.is_number_unsigned() &&
                         value.get<std::uint64_t>() >
                             static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const auto got = too_large ? 0 : value.get<std::int64_t>();
  if (too_large || got < least || got > most)
    throw Bad{std::string(what) + " is " + shown(value) + ", not within " + std::to_string(least) +
              " to " + std::to_string(most)};
  return got;
}

double number(const Json& value, const char* what, double least, double most) {
  if (!value.is_number()) throw Bad{std::string(what) + " is no number"};
  const auto got = value.get<double>();
  if (!(got >= least && got <= most))
    throw Bad{std::string(what) + " is " + shown(value) + ", which nobody measures"};
  return got;
}

}  // namespace unisono
