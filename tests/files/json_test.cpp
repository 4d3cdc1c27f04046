// What the only reader of JSON takes, and what it refuses.
#include "files/json.h"

#include <gtest/gtest.h>

#include "files/names.h"

namespace unisono {
namespace {

std::string error_of(std::string_view text, const JsonLimits& limits = {}) {
  const auto read = result_of([&] { return parse_json(text, limits); });
  return read ? "no error" : read.error();
}

TEST(ParseJson, MakesWhatTheLibraryWouldMake) {
  for (const char* text :
       {R"({"a": [1, -2, 3.5, null, true, "x\u20ac"], "b": {"c": {}, "a": []}})", "7", "[]", "\"\"",
        "[[[]], {}, {\"x\": [{}]}]", "18446744073709551615", "-0.0"})
    EXPECT_EQ(parse_json(text), Json::parse(text)) << text;
}

TEST(ParseJson, LimitsDepthMembersValuesAndBytes) {
  const std::string deep = std::string(kMostDepth, '[') + std::string(kMostDepth, ']');
  EXPECT_EQ(error_of(deep), "no error");
  EXPECT_EQ(error_of("[" + deep + "]"), "it is nested more than 64 deep");
  EXPECT_EQ(error_of(std::string(100'000, '[')), "it is nested more than 64 deep");
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "{\"a\":";
  EXPECT_EQ(error_of(nested), "it is nested more than 64 deep");
  EXPECT_EQ(error_of("[1, 2, 3]", {100, 4}), "no error");
  EXPECT_EQ(error_of("[1, 2, 3]", {100, 3}), "it holds too many values");
  EXPECT_EQ(error_of("[1, 2, 3]", {8, 100}), "it has more than the 8 bytes that it may have");
  std::string many = "{";
  for (std::size_t i = 0; i < kMostMembers; ++i) many += "\"" + std::to_string(i) + "\":0,";
  EXPECT_EQ(error_of(many + "\"more\":0}"), "an object has more than 64 members");
}

std::string list_of(std::string_view element, std::size_t times) {
  std::string text = "[";
  for (std::size_t i = 0; i < times; ++i) text += element;
  return text + "0]";
}

// What one of these costs is counted, so that a file of a megabyte does not cost 0.1 s.
TEST(ParseJson, LimitsWhatIsCostly) {
  const std::string crowded = "it holds too many lists, objects and texts for its size";
  const std::size_t many = std::size_t{1} << 15;
  for (const char* element : {"[],", "{},", "\"a\","}) {
    EXPECT_EQ(error_of(list_of(element, many), kLargeJson), crowded);
    EXPECT_EQ(error_of(list_of(element, kOfAnySpacing - 1), kLargeJson), "no error");
  }
  for (const char* element : {"0,", "[0,1,5],", "[ ],    ", "{\"op\":\"recv\",\"slice\":[0,10]},"})
    EXPECT_EQ(error_of(list_of(element, many), kLargeJson), "no error");
  EXPECT_EQ(error_of("[" + std::string(kMostGap - 1, '\n') + "]"), "no error");
  for (const char blank : {' ', '\t', '\n', '\r'})
    EXPECT_EQ(error_of("[" + std::string(kMostGap, blank) + "]"), "it has 65536 blanks in a row");
}

TEST(ParseJson, SaysWhatIsWrong) {
  EXPECT_EQ(error_of(""), "it is no JSON at line 1, column 1");
  EXPECT_EQ(error_of("[1,\n 2"), "it is no JSON at line 2, column 3");
  EXPECT_EQ(error_of(R"({"a": 1, "a": 2})"), "'a' is there twice in one object");
  EXPECT_EQ(error_of("[1e400]"), "it has a number that is too large at line 1, column 6");
  EXPECT_EQ(error_of("\"\xff\""), "it is no JSON at line 1, column 2");
  EXPECT_EQ(error_of("NaN"), "it is no JSON at line 1, column 1");
}

TEST(Fields, NumbersAreWithinTheirRange) {
  const auto error = [](const char* text) {
    const auto read = result_of([&] { return whole(parse_json(text), "n", 1, 9); });
    return read ? std::to_string(*read) : read.error();
  };
  EXPECT_EQ(error(R"({"n": 9})"), "9");
  EXPECT_EQ(error(R"({"n": 10})"), "n is 10, not within 1 to 9");
  EXPECT_EQ(error(R"({"n": -1})"), "n is -1, not within 1 to 9");
  EXPECT_EQ(error(R"({"n": 9223372036854775808})"), "n is 9223372036854775808, not within 1 to 9");
  EXPECT_EQ(error(R"({"n": 18446744073709551615})"),
            "n is 18446744073709551615, not within 1 to 9");
  EXPECT_EQ(error(R"({"n": 1e30})"), "n is not an integer");
  EXPECT_EQ(error(R"({"n": 1e400})"), "it has a number that is too large at line 1, column 11");
  EXPECT_EQ(error(R"({"n": "9"})"), "n is not an integer");
  EXPECT_EQ(error(R"({})"), "'n' is missing");
  EXPECT_EQ(error("[]"), "not an object");
}

TEST(Fields, WhatTheyQuoteIsShortAndPlain) {
  EXPECT_EQ(shown(Json("a\x1b")), R"('a\x1b')");
  EXPECT_EQ(shown(Json::array({1, "b"})), R"([1,"b"])");
  EXPECT_EQ(shown(Json(std::vector<int>(1000))), "a list of 1000");
  EXPECT_LE(shown(Json(std::string(1000, 'x'))).size(), 62U);
}

TEST(Names, AreWhatUnisonoWritesAndNothingElse) {
  const std::string good = memory_name("openmpi", 255);
  EXPECT_EQ(good, "openmpi-00000000000000ff.json");
  EXPECT_TRUE(is_memory_name(good));
  EXPECT_TRUE(is_part_of_memory(part_of(good)));
  EXPECT_NE(part_of(good), part_of(good));
  EXPECT_FALSE(is_memory_name(part_of(good)));
  for (const char* name :
       {"", "lock", "libraries", "a.json", "-00000000000000ff.json", "mpich-00000000000000ff.JSON",
        "mpich-00000000000000FF.json", "mpich-0000000000000ff.json", "mpich-00000000000000ff.jsonx",
        "./mpich-00000000000000ff.json", "my-mpich-00000000000000ff.json"}) {
    EXPECT_FALSE(is_memory_name(name)) << name;
    EXPECT_FALSE(is_part_of_memory(std::string(name) + ".part.0123456789abcdef")) << name;
  }
  EXPECT_FALSE(is_part_of_memory(good));
  EXPECT_FALSE(is_part_of_memory(good + ".part.0123"));
}

}  // namespace
}  // namespace unisono
