// What a job keeps for the next, and what of a file is believed.
#include "select/online/memory.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "files/names.h"
#include "select/online/key.h"

namespace unisono {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kNow = 1'800'000'000;
const Whereabouts kHere{"mpich", "MPICH 4.2", "a processor", 4, "eth0 10.0.0.0/24"};

Machine machine(double alpha = 60e-6, double beta = 80e-9) {
  Machine made;
  made.levels[kBetweenNodes] = hockney(alpha, beta);
  made.levels[kBetweenNodes]->exchange = {{{0, 2 * alpha, beta}}};
  made.levels[kBetweenNodes]->active = 7;
  made.gamma = 1e-9;
  made.copy = 1.0 / 3e10;
  made.incast = kCheapSwitch;
  return made;
}

KeptVerdict sum_of_8(int winner, int ranks = 4, std::int64_t when = kNow - 10, double between = 0) {
  return {.collective = Collective::allreduce,
          .size_class = size_class(8),
          .ranks = ranks,
          .ranks_per_core = 2,
          .bytes = 8,
          .other = *parse_spec(Collective::allreduce, "shm"),
          .verdict = {winner, {{{11e-6, 12e-6 + between}, {5e-6, 5.1e-6 + between}}}},
          .when = when};
}

/// Of a check between hosts.
KeptVerdict bcast_on(int ranks, std::int64_t when = kNow - 10) {
  return {.collective = Collective::bcast,
          .size_class = size_class(512 << 10),
          .ranks = ranks,
          .nodes = ranks,
          .bytes = 512 << 10,
          .other = *parse_spec(Collective::bcast, "chain:segment=4K"),
          .verdict = {0, {{{0.045, 0.045}, {0.32, 0.32}}}},
          .when = when};
}

Memory some() { return {kNow - 100, machine(), {sum_of_8(1), bcast_on(7)}}; }

std::string refused(const std::string& text, const Whereabouts& here = kHere) {
  const auto read = read_memory(text, here, kNow);
  return read ? "" : read.error();
}

TEST(Memory, IsReadAsItWasWritten) {
  const std::string text = write_memory(some(), kHere);
  const auto read = read_memory(text, kHere, kNow);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(write_memory(*read, kHere), text);
  EXPECT_EQ(write_machine(*read->machine), write_machine(machine()));
  ASSERT_EQ(read->verdicts.size(), 2U);
  EXPECT_TRUE(read->verdicts[1].is_like(bcast_on(7)));
  EXPECT_TRUE(read->verdicts[0].is_like(sum_of_8(1)));
  EXPECT_EQ(read->verdicts[0].verdict.winner, 1);
}

TEST(Memory, TravelsExactly) {
  const Memory got = unpack_memory(pack_memory(some()));
  EXPECT_EQ(write_machine(*got.machine), write_machine(machine()));
  ASSERT_EQ(got.verdicts.size(), 2U);
  EXPECT_EQ(got.verdicts[1].nodes, 7);
  EXPECT_TRUE(got.verdicts[0].is_like(sum_of_8(1)));
  EXPECT_EQ(got.verdicts[0].verdict.times[1].in_calls, 5e-6);
  EXPECT_EQ(got.verdicts[0].verdict.times[0].all, 12e-6);
  EXPECT_TRUE(unpack_memory(pack_memory({})).is_empty());
}

TEST(Memory, OfAnotherPlaceOrVersionIsRefused) {
  const std::string text = write_memory(some(), kHere);
  for (const auto& change : std::initializer_list<std::function<void(Whereabouts&)>>{
           [](auto& w) { w.flavour = "openmpi"; }, [](auto& w) { w.library = "MPICH 4.3"; },
           [](auto& w) { w.processor = "another"; }, [](auto& w) { w.cores = 8; },
           [](auto& w) { w.network = "eth0 10.1.0.0/24"; }}) {
    Whereabouts there = kHere;
    change(there);
    EXPECT_EQ(refused(text, there), "it is of another place");
    EXPECT_NE(there.file_name(), kHere.file_name());
  }
  Json document = Json::parse(text);
  document["unisono"] = "0.0.1";
  EXPECT_EQ(refused(document.dump()), "it is of another version of Unisono");
  document["version"] = 1;
  EXPECT_EQ(refused(document.dump()), "it is of another version");
}

TEST(Memory, NoTextBreaksIt) {
  const std::string text = write_memory(some(), kHere);
  for (std::size_t length = 0; length + 2 < text.size(); length += 7)
    EXPECT_NE(refused(text.substr(0, length)), "") << length;
  for (std::size_t at = 0; at < text.size(); at += 3) {
    std::string broken = text;
    broken[at] = static_cast<char>(broken[at] ^ 0x15);
    refused(broken);  // comes back
  }
  EXPECT_NE(refused(std::string(1 << 20, '[')), "");
  EXPECT_NE(refused(std::string(1000, '\0')), "");
  EXPECT_NE(refused("[1,2]"), "");
  EXPECT_NE(refused("null"), "");
}

// Each of the first two ended MPI_Init by a signal, or took it a minute.
TEST(Memory, DepthAndNumberOfMembersAreLimited) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(refused(deep), "it is nested more than 64 deep");
  EXPECT_EQ(refused(R"({"format": )" + deep + "}"), "it is nested more than 64 deep");
  const std::string good = write_memory(Memory(), kHere), name = "\"verdicts\"";
  const std::size_t at = good.find(name);
  ASSERT_NE(at, std::string::npos);
  std::string many = good.substr(0, at);
  for (int i = 0; many.size() < 241'000; ++i) many += "\"" + std::to_string(i) + "\":0,";
  EXPECT_EQ(refused(many + good.substr(at)), "an object has more than 64 members");
  EXPECT_EQ(refused(good.substr(0, at) + name + ":[]," + good.substr(at)),
            "'verdicts' is there twice in one object");
  EXPECT_EQ(refused(good), "");
}

TEST(Memory, HasANameThatUnisonoKnowsAsItsOwn) {
  EXPECT_TRUE(is_memory_name(kHere.file_name())) << kHere.file_name();
  Whereabouts there = kHere;
  there.flavour = "../X";
  EXPECT_TRUE(is_memory_name(there.file_name())) << there.file_name();
}

TEST(Memory, NumbersThatNobodyMeasuresAreRefused) {
  const Json good = Json::parse(write_memory(some(), kHere));
  const auto with = [&](const char* pointer, const Json& value) {
    Json bad = good;
    bad.at(Json::json_pointer(pointer)) = value;
    return refused(bad.dump());
  };
  const char* level = "/machine/levels/between_nodes";
  const std::string alpha = std::string(level) + "/one_way/0/alpha_s";
  for (const Json& value :
       {Json(-1), Json(0), Json(1e300), Json(nullptr), Json("x"), Json::array()})
    EXPECT_NE(with(alpha.c_str(), value), "") << value;
  EXPECT_NE(with((std::string(level) + "/one_way/0/beta_s_per_byte").c_str(), 0), "");
  EXPECT_NE(with((std::string(level) + "/gap").c_str(), Json::array()), "");
  EXPECT_NE(with("/verdicts/1/nodes", 8), "") << "more than ranks";
  EXPECT_NE(with("/verdicts/1/nodes", 1), "") << "sends messages";
  EXPECT_NE(with("/verdicts/1/ranks", 1e18), "");
  EXPECT_NE(with("/verdicts/1/other", "chain:segment=-1"), "");
  EXPECT_NE(with("/verdicts/1/other", "no such"), "");
  EXPECT_NE(with("/verdicts/1/other", "shm"), "") << "within a node";
  EXPECT_NE(with("/verdicts/0/collective", "bcast\n\x1b[2J"), "");
  EXPECT_EQ(with("/verdicts/0/collective", "x\ny").find('\n'), std::string::npos);
  EXPECT_NE(with("/verdicts", Json::object()), "");
  EXPECT_NE(with("/verdicts/0/collective", "no such"), "");
  EXPECT_NE(with("/verdicts/0/class", 128), "");
  EXPECT_NE(with("/verdicts/0/class", -1), "");
  EXPECT_NE(with("/verdicts/0/ranks", 1), "");
  EXPECT_NE(with("/verdicts/0/ranks_per_core", -1), "");
  EXPECT_NE(with("/verdicts/0/other", "native"), "");
  EXPECT_NE(with("/verdicts/0/other", "ring"), "") << "sends messages";
  EXPECT_NE(with("/verdicts/0/other", "grid:shape=2x2,rows=shm"), "");
  EXPECT_NE(with("/verdicts/0/choice", "ring"), "") << "neither of the two";
  EXPECT_EQ(with("/verdicts/0/choice", "native"), "");
  for (const char* time :
       {"seconds", "from_call_to_call", "native_seconds", "native_from_call_to_call"})
    for (const Json& value : {Json(0), Json(-1), Json(1e9), Json("x"), Json(nullptr)})
      EXPECT_NE(with((std::string("/verdicts/0/") + time).c_str(), value), "") << time << value;
  std::string infinite = good.dump();
  infinite.replace(infinite.find("0.045"), 5, "1e999");
  EXPECT_NE(refused(infinite), "");
  Json many = good;
  for (std::size_t i = 0; i <= kMostRemembered; ++i)
    many["verdicts"].push_back(many["verdicts"][0]);
  EXPECT_NE(refused(many.dump()), "");
}

TEST(Memory, WhatIsOldOrFromTheFutureIsLeftOut) {
  for (const std::int64_t when : {kNow - kMostAge - 1, kNow + 1, std::int64_t{1} << 62}) {
    Memory memory = some();
    memory.measured = when;
    memory.verdicts.push_back(sum_of_8(0, 9, when));
    const auto read = read_memory(write_memory(memory, kHere), kHere, kNow);
    ASSERT_TRUE(read) << read.error();
    EXPECT_FALSE(read->machine);
    ASSERT_EQ(read->verdicts.size(), 2U);
    EXPECT_EQ(read->verdicts[0].ranks, 4);
    EXPECT_TRUE(merged(*read, some()).machine) << "what is measured now takes its place";
  }
}

TEST(Memory, TwoJobsAddUp) {
  Memory one, two;
  one.verdicts = {bcast_on(7), bcast_on(5)};
  two.verdicts = {bcast_on(7, kNow), bcast_on(5, kNow - 20)};
  two.machine = machine();
  two.measured = kNow;
  const Memory both = merged(merged(some(), one), two);
  EXPECT_EQ(both.measured, kNow);
  ASSERT_EQ(both.verdicts.size(), 3U);
  EXPECT_EQ(both.verdicts[0].when, kNow) << "the later one's";
  EXPECT_EQ(both.verdicts[2].when, kNow - 10);
}

// Of programs that compute between calls, and that do not, one each.
TEST(Memory, TheLaterVerdictOfAKindOfProgramStays) {
  Memory one, two;
  one.verdicts = {sum_of_8(1, 4, kNow - 5), sum_of_8(0, 4, kNow - 20, 1e-3)};
  two.verdicts = {sum_of_8(0, 4, kNow - 1), sum_of_8(1, 2, kNow - 2)};
  const Memory both = merged(one, two);
  ASSERT_EQ(both.verdicts.size(), 3U);
  EXPECT_EQ(both.verdicts[0].verdict.winner, 0) << "the newest first";
  EXPECT_EQ(both.verdicts[0].ranks, 4);
  EXPECT_EQ(both.verdicts[1].ranks, 2);
  EXPECT_TRUE(both.verdicts[2].verdict.is_spread());
  EXPECT_EQ(merged(both, one).verdicts[0].when, kNow - 1);
}

// One broadcast within a node has 8 KiB.
TEST(Memory, TheVerdictsOfAJobAreShort) {
  Memory memory;
  for (int i = 0; i < 48; ++i) memory.verdicts.push_back(sum_of_8(i % 2, 2 + i));
  EXPECT_LE(pack_memory(memory).size(), std::size_t{8} << 10);
}

TEST(Memory, TheOldestVerdictsGo) {
  Memory memory;
  for (int i = 0; i < 300; ++i) memory = merged(memory, {.verdicts = {sum_of_8(1, 2 + i, i)}});
  ASSERT_EQ(memory.verdicts.size(), kMostRemembered);
  EXPECT_EQ(memory.verdicts.front().when, 299);
  EXPECT_EQ(memory.verdicts.back().when, 299 - static_cast<int>(kMostRemembered) + 1);
}

TEST(Memory, CallsShowThatANetworkIsFasterThanMeasured) {
  const auto after = [](double native_seconds) {
    Memory found;
    found.verdicts = {bcast_on(7)};
    found.verdicts[0].verdict.times[0].all = native_seconds;
    return network_rate(*merged(some(), found).machine);
  };
  EXPECT_NEAR(after(0.045), 100e6, 1) << "as measured";
  EXPECT_NEAR(after(0.0105), 8 * (512 << 10) / 0.0105, 1);
}

TEST(Memory, NetworksAreAlikeOrNot) {
  EXPECT_TRUE(are_alike(machine(), machine(80e-6, 90e-9)));
  EXPECT_FALSE(are_alike(machine(), machine(60e-6, 400e-9))) << "20 Mb/s";
  EXPECT_TRUE(are_alike(machine(), machine(5e-6, 80e-9))) << "a busy host";
}

}  // namespace
}  // namespace unisono
