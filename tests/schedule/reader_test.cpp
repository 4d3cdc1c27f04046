#include "schedule/reader.h"

#include <gtest/gtest.h>

#include "algorithms/catalogue.h"
#include "schedule/problem.h"

namespace unisono {
namespace {

bool same(const Op& a, const Op& b) {
  return a.kind == b.kind && a.buffer == b.buffer && a.from_buffer == b.from_buffer &&
         a.peer == b.peer && a.offset == b.offset && a.length == b.length &&
         a.from_offset == b.from_offset;
}

void expect_same(const Schedule& a, const Schedule& b) {
  ASSERT_EQ(a.ops().size(), b.ops().size());
  EXPECT_TRUE(
      std::equal(a.scratch().begin(), a.scratch().end(), b.scratch().begin(), b.scratch().end()));
  for (std::size_t i = 0; i < a.ops().size(); ++i) {
    EXPECT_TRUE(same(a.ops()[i], b.ops()[i])) << "op " << i;
    const auto x = a.dependencies(static_cast<OpId>(i));
    const auto y = b.dependencies(static_cast<OpId>(i));
    EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin(), y.end())) << "op " << i;
  }
}

TEST(Reader, EveryAlgorithmRoundTrips) {
  for (const Algorithm& row : catalogue())
    for (int c = 0; c < kCollectives; ++c) {
      if (!contains(row.collectives, static_cast<Collective>(c))) continue;
      const ArgsOfRanks ranks({.collective = static_cast<Collective>(c),
                               .size = 8,
                               .count = 24,
                               .params = default_params(row)});
      const auto schedules = build_all(row, ranks.args());
      for (int r = 0; r < 8; ++r) {
        const StoredSchedule written{r, 8, schedules[static_cast<std::size_t>(r)]};
        const auto read = read_json(write_json(written));
        ASSERT_TRUE(read) << row.name << ": " << read.error();
        EXPECT_EQ(read->rank, r);
        EXPECT_EQ(read->size, 8);
        expect_same(read->schedule, written.schedule);
      }
    }
}

TEST(Reader, SaysWhatIsWrong) {
  const std::string head = R"({"unisono_schedule": 1, "rank": 1, "size": 4, "scratch": [10], )";
  const struct {
    std::string json;
    const char* error;
  } cases[] = {
      {std::string(100000, '['), "it is nested more than 64 deep"},
      {head + R"("ops": [{"op": )" + std::string(100000, '['), "nested more than 64 deep"},
      {"", "no JSON"},
      {"[]", "not an object"},
      {"{}", "'unisono_schedule' is missing"},
      {R"({"unisono_schedule": 2})", "format unisono_schedule is 2"},
      {R"({"unisono_schedule": 1, "size": 4, "rank": 4})", "rank is 4, not within 0 to 3"},
      {R"({"unisono_schedule": 1, "size": 4, "rank": 0, "scratch": [-1]})", "scratch is -1"},
      {head + R"("ops": 3})", "ops is not a list"},
      {head + R"("ops": [3]})", "op 0: not an object"},
      {head + R"("ops": [{"op": "join"}, {"op": "sing"}]})", "op 1: no op 'sing'"},
      {head + R"("ops": [{"op": "send", "slice": ["output", 0, 1]}]})", "op 0: 'peer' is missing"},
      {head + R"("ops": [{"op": "send", "peer": 4, "slice": ["output", 0, 1]}]})",
       "op 0: peer is 4, not within 0 to 3"},
      {head + R"("ops": [{"op": "send", "peer": 1, "slice": ["output", 0, 1]}]})",
       "op 0: peer is the rank itself"},
      {head + R"("ops": [{"op": "send", "peer": 2, "slice": ["output", 0]}]})",
       "op 0: a slice is [buffer, offset, length]"},
      {head + R"("ops": [{"op": "send", "peer": 2, "slice": ["scratch1", 0, 1]}]})",
       "op 0: no buffer 'scratch1'"},
      {head + R"("ops": [{"op": "send", "peer": 2, "slice": ["slots", 0, 1]}]})",
       "op 0: no buffer 'slots'"},
      {head + R"("ops": [{"op": "send", "peer": 2, "slice": ["scratch0", 4, 7]}]})",
       "op 0: scratch0[4:11] is out of bounds: it has 10 units"},
      {head + R"("ops": [{"op": "send", "peer": 2, "slice": ["output", -1, 7]}]})",
       "op 0: offset is -1"},
      {head +
           R"("ops": [{"op": "send", "peer": 2, "slice": ["output", 0, 18446744073709551615]}]})",
       "op 0: length is 18446744073709551615"},
      {head + R"("ops": [{"op": "send", "peer": 2, "slice": ["output", 0, 1.5]}]})",
       "op 0: length is not an integer"},
      {head + R"("ops": [{"op": "copy", "from": ["input", 0, 2], "slice": ["output", 0, 1]}]})",
       "op 0: from input[0:2] and slice output[0:1] differ in length"},
      {head + R"("ops": [{"op": "join", "after": [0]}]})", "op 0: after is 0"},
      {head + R"("ops": [{"op": "join"}, {"op": "join", "after": [1]}]})", "op 1: after is 1"},
      {head + R"("ops": [{"op": "join", "after": 1}]})", "op 0: after is not a list"},
  };
  for (const auto& bad : cases) {
    const auto read = read_json(bad.json);
    ASSERT_FALSE(read) << bad.json;
    EXPECT_NE(read.error().find(bad.error), std::string::npos) << read.error();
  }
}

}  // namespace
}  // namespace unisono
