#include "select/profile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "select/selector.h"

namespace unisono {
namespace {

using Json = nlohmann::ordered_json;

const Platform kPlatform{"mpich", "MPICH Version:      5.0.2", Place::ethernet, 94e6, 2};

Json cell(const char* collective, Count least, Count most, const char* choice) {
  return {{"collective", collective}, {"bytes", {least, most}}, {"choice", choice}};
}

Json environment(const std::vector<Json>& cells, const Platform& where = kPlatform, int ranks = 16,
                 int nodes = 16) {
  return {{"mpi", {{"flavour", where.flavour}, {"library", where.library}}},
          {"machine",
           {{"place", name(where.place)},
            {"network_rate", where.network_rate},
            {"cores", where.cores}}},
          {"shape", {{"ranks", ranks}, {"nodes", nodes}}},
          {"cells", cells}};
}

Json document(const std::vector<Json>& environments) {
  return {{"schema", "unisono.profile"}, {"schema_version", 1}, {"environments", environments}};
}

Json good() {
  return document({environment({cell("bcast", 0, 16, "native"), cell("bcast", 17, 4096, "binomial"),
                                cell("allreduce", 100, 200, "ring")})});
}

/// The document after a change at this place.
std::string changed(const char* pointer, const Json& value) {
  Json json = good();
  json[Json::json_pointer(pointer)] = value;
  return json.dump();
}

std::string error_of(const std::string& text) {
  const auto profile = read_profile(text);
  return profile ? "" : profile.error();
}

std::vector<ProfileCell> cells_of(const Json& json, const Platform& here = kPlatform) {
  const auto profile = read_profile(json.dump());
  EXPECT_TRUE(profile) << profile.error();
  const auto cells = cells_for(*profile, here);
  return cells ? *cells : std::vector<ProfileCell>();
}

Selector selector_with(const Json& json) {
  Selector selector;
  selector.use(cells_of(json), "profile mine.json");
  return selector;
}

std::string chosen(const Selector& selector, const Facts& facts) {
  const Choice choice = selector.choose(facts);
  return (choice.algorithm != nullptr ? std::string(choice.algorithm->name) : "native") + " by " +
         std::string(choice.why);
}

constexpr Facts facts(Collective collective, Count bytes, int ranks = 16, int nodes = 16) {
  return {collective, ranks, bytes, true, nodes};
}

// The ends of an interval are in it; beyond them, and between two, nobody has measured.
TEST(Profile, HoldsFromEndToEnd) {
  const Selector selector = selector_with(good());
  for (const Count bytes : {17, 18, 4095, 4096}) {
    EXPECT_EQ(chosen(selector, facts(Collective::bcast, bytes)), "binomial by profile mine.json");
    EXPECT_TRUE(selector.covers(facts(Collective::bcast, bytes)));
    EXPECT_TRUE(selector.reach(Collective::bcast, 16, 16).holds(bytes));
  }
  for (const Count bytes : {0, 16}) {
    EXPECT_EQ(chosen(selector, facts(Collective::bcast, bytes)), "native by profile mine.json");
    EXPECT_FALSE(selector.covers(facts(Collective::bcast, bytes)));
  }
  for (const Facts& other :
       {facts(Collective::bcast, 4097), facts(Collective::allreduce, 99),
        facts(Collective::allreduce, 201), facts(Collective::barrier, 0),
        facts(Collective::bcast, 100, 8, 8), facts(Collective::bcast, 100, 16, 8),
        facts(Collective::bcast, 100, 32, 16)}) {
    EXPECT_EQ(chosen(selector, other), "native by no better one known");
    EXPECT_FALSE(selector.covers(other));
  }
  EXPECT_EQ(selector.candidates(), set_of(Collective::bcast, Collective::allreduce));
}

TEST(Profile, ComesAfterTheForcedAndBeforeTheDefaults) {
  const Platform oversubscribed{"mpich", "MPICH", Place::oversubscribed, 0, 2};
  const Facts call = facts(Collective::bcast, 8, 4, 1);
  Selector selector(oversubscribed.flavour, oversubscribed.place);
  ASSERT_TRUE(selector.covers(call)) << "the table of defaults has changed: take another call";

  const Json json = document({environment({cell("bcast", 8, 8, "native")}, oversubscribed, 4, 1)});
  selector.use(cells_of(json, oversubscribed), "profile mine.json");
  EXPECT_FALSE(selector.covers(call));
  EXPECT_EQ(chosen(selector, call), "native by profile mine.json");
  ASSERT_TRUE(selector.force(Collective::bcast, "chain"));
  EXPECT_EQ(chosen(selector, call), "chain by forced");
}

TEST(Profile, LeavesWhatItsChoiceCannotServe) {
  const Selector selector = selector_with(good());
  Facts call = facts(Collective::allreduce, 150);
  EXPECT_EQ(chosen(selector, call), "ring by profile mine.json");
  call.commutative = false;
  EXPECT_EQ(chosen(selector, call), "native by no better one known");
}

TEST(Profile, OrderOfCellsAndUnknownFieldsDoNotMatter) {
  Json json = good();
  Json& cells = json["environments"][0]["cells"];
  std::swap(cells[0], cells[2]);
  json["later"] = {1, 2};
  cells[1]["measured"] = "what explain reads";
  EXPECT_EQ(chosen(selector_with(json), facts(Collective::bcast, 17)),
            "binomial by profile mine.json");
}

TEST(Profile, OfTheFirstVersionIsRead) {
  Json former = good();
  for (const char* const key : {"schema", "schema_version"}) former.erase(key);
  former["format"] = "unisono-profile";
  former["version"] = 1;
  EXPECT_EQ(cells_of(former).size(), 3U);
}

TEST(Profile, SaysWhereItIsWrong) {
  const struct {
    const char* pointer;
    Json value;
    std::vector<const char*> said;
  } cases[] = {
      {"/schema", "other", {"no profile of Unisono"}},
      {"/schema_version", 2, {"newer Unisono", "version 2"}},
      {"/schema_version", "1", {"version is not an integer"}},
      {"/schema_version", 0, {"version is 0"}},
      {"/environments", 3, {"environments is not a list"}},
      {"/environments/0", 3, {"environments[0]", "not an object"}},
      {"/environments/0/mpi", Json::object(), {"environments[0]", "'flavour' is missing"}},
      {"/environments/0/machine/place", "moon", {"environments[0]", "'moon'", "oversubscribed"}},
      {"/environments/0/machine/network_rate", -1, {"network_rate"}},
      {"/environments/0/machine/cores", 0, {"cores is 0"}},
      {"/environments/0/shape/nodes", 17, {"nodes is 17, not within 1 to 16"}},
      {"/environments/0/shape/ranks", 1e10, {"ranks is not an integer"}},
      {"/environments/0/shape/ranks", 10'000'000'000, {"ranks is 10000000000"}},
      {"/environments/0/cells/1/collective", "sing", {"cells[1]", "'sing'"}},
      {"/environments/0/cells/1/choice", "bionmial", {"cells[1]", "'bionmial'", "binomial"}},
      {"/environments/0/cells/1/choice", "chain:segment=0", {"cells[1]", "segment"}},
      {"/environments/0/cells/1/choice", "default", {"cells[1]", "no choice"}},
      {"/environments/0/cells/1/choice", "two\nlines", {"cells[1]", R"(two\x0alines)"}},
      {"/environments/0/cells/1/choice",
       std::string(100000, '\x1b'),
       {"cells[1]", R"('\x1b\x1b)", " ... "}},
      {"/environments/0/cells/1/bytes", {4096, 17}, {"cells[1]", "most of bytes is 17"}},
      {"/environments/0/cells/1/bytes", Json::array({17}), {"cells[1]", "[least, most]"}},
      {"/environments/0/cells/1/bytes", {-1, 17}, {"cells[1]", "least of bytes is -1"}},
      {"/environments/0/cells/1/bytes", {16, 17}, {"bcast", "[0, 16] and [16, 17]", "overlap"}},
  };
  for (const auto& [pointer, value, said] : cases) {
    const std::string error = error_of(changed(pointer, value));
    for (const char* part : said) EXPECT_NE(error.find(part), std::string::npos) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    EXPECT_FALSE(said.empty() || error.empty()) << pointer;
    EXPECT_LE(error.size(), 300U);
  }
}

TEST(Profile, SaysWhereItIsNoJson) {
  const std::string text = good().dump(1);
  EXPECT_NE(error_of("{\n  \"format\": nonsense\n}").find("line 2, column 14"), std::string::npos)
      << error_of("{\n  \"format\": nonsense\n}");
  EXPECT_NE(error_of("").find("line 1"), std::string::npos);
  EXPECT_NE(error_of("{\"format\": 1e999}").find("too large"), std::string::npos);
  EXPECT_NE(error_of("[]").find("no profile"), std::string::npos);
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(error_of(deep), "it is nested more than 64 deep");
  EXPECT_EQ(error_of(R"({"format": )" + deep + "}"), "it is nested more than 64 deep");
  // Whatever is cut off is noticed, wherever it is.
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_NE(error_of(text.substr(0, length)), "") << length;
}

TEST(Profile, SaysWhatIsDifferentHere) {
  const auto profile = read_profile(good().dump());
  ASSERT_TRUE(profile) << profile.error();
  const auto said = [&](auto change) {
    Platform here = kPlatform;
    change(here);
    const auto cells = cells_for(*profile, here);
    return cells ? "" : cells.error();
  };
  EXPECT_EQ(said([](Platform&) {}), "");
  EXPECT_EQ(said([](Platform& s) { s.network_rate = 94e6 * 1.49; }), "");
  EXPECT_EQ(said([](Platform& s) { s.network_rate = 94e6 / 1.49; }), "");
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(said([](Platform& s) { s.network_rate = 94e6 * 1.51; }), "network 94 Mb/s"));
  EXPECT_EQ(said([](Platform& s) { s.network_rate = 0; }), "") << "nobody has measured it here";
  EXPECT_TRUE(has(said([](Platform& s) { s.library = "MPICH 6"; }), "(here 'MPICH 6', mpich)"));
  EXPECT_TRUE(has(said([](Platform& s) { s.flavour = "abi"; }), "MPI library"));
  EXPECT_TRUE(has(said([](Platform& s) { s.cores = 3; }), "cores of a node 2 (here 3)"));
  const std::string two = said([](Platform& s) {
    s.place = Place::oversubscribed;
    s.network_rate = 0;
    s.cores = 3;
  });
  EXPECT_EQ(
      two,
      "it was made elsewhere: place ethernet (here oversubscribed), cores of a node 2 (here 3)");
  EXPECT_TRUE(has(cells_for({}, kPlatform).error(), "no measurements"));
}

TEST(Profile, TakesTheEnvironmentThatIsMostAlike) {
  Platform slow = kPlatform, other = kPlatform;
  slow.network_rate = kPlatform.network_rate / 1.4;
  other.library = "MPICH 6";
  const Json json = document({environment({cell("bcast", 0, 9, "chain")}, other),
                              environment({cell("bcast", 0, 9, "flat")}, slow),
                              environment({cell("bcast", 0, 9, "binomial")}),
                              environment({cell("bcast", 0, 9, "knomial")}, slow, 8, 8)});
  const Selector selector = selector_with(json);
  EXPECT_EQ(chosen(selector, facts(Collective::bcast, 5)), "binomial by profile mine.json");
  EXPECT_EQ(chosen(selector, facts(Collective::bcast, 5, 8, 8)), "knomial by profile mine.json");
}

}  // namespace
}  // namespace unisono
