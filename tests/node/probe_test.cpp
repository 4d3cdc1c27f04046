// When a team measures its memory, and that all ranks go on with the same numbers.
#include "node/probe.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "node/pipeline.h"
#include "tests/node/calls.h"
#include "tests/node/ranks.h"

namespace unisono::node {
namespace {

constexpr std::size_t kProbedSlot = 1024;

/// What a rank goes by, to be compared with the others'.
struct Choices {
  DirectFrom direct;
  ReadAll read;
  Store store = Store::plain;
  unsigned epoch = 0;
};

std::string differ(Team& team) {
  Choices mine;
  std::memset(static_cast<void*>(&mine), 0, sizeof mine);
  mine.direct = team.direct_from();
  mine.read = team.read_all_up_to();
  mine.store = team.store();
  mine.epoch = team.epoch();
  std::vector<std::byte> all(sizeof mine * static_cast<std::size_t>(team.size()));
  allgather(team, reinterpret_cast<const std::byte*>(&mine), all.data(), sizeof mine,
            Protocol::pipeline);
  for (int rank = 0; rank < team.size(); ++rank)
    if (std::memcmp(all.data() + at(rank, sizeof mine), &mine, sizeof mine) != 0)
      return "rank " + std::to_string(rank) + " goes by other numbers";
  return "";
}

class Probes : public testing::TestWithParam<std::tuple<int, WaitMode, bool>> {};

/// Calls in random order, between which the team measures again and again.
TEST_P(Probes, AreMadeByAllAndAgreed) {
  const auto [size, mode, direct] = GetParam();
  const std::vector<pid_t> processes(static_cast<std::size_t>(size), getpid());
  TestArena<Team> arena(size, 8 * kProbedSlot);
  EXPECT_EQ("", on_threads_of(size, [&, size = size, mode = mode, direct = direct](int rank) {
              Team team(arena.memory(), rank, size, {mode}, {0, kProbedSlot});
              if (direct) team.allow_direct(processes, {});
              begin(team, {1, true, 20'000, 50'000, 7000});
              for (std::uint64_t i = 0; i < 300; ++i) {
                const Call call = random_call(i, team.size(), 4000);
                if (std::string wrong = run_and_check(team, call); !wrong.empty()) return wrong;
                if (i % 50 != 49) continue;
                if (std::string wrong = differ(team); !wrong.empty()) return wrong;
              }
              return std::string(team.epoch() > 3 ? "" : "never measured");
            }));
}

INSTANTIATE_TEST_SUITE_P(, Probes,
                         testing::Values(std::tuple{2, WaitMode::spin, true},
                                         std::tuple{2, WaitMode::yield, false},
                                         std::tuple{3, WaitMode::sleep, true},
                                         std::tuple{5, WaitMode::yield, true},
                                         std::tuple{5, WaitMode::sleep, false}));

/// In the call that moves the bytes that make it due, what was chosen before is outdated; the next
/// one measures, whether it asks the rule or names its protocol.
TEST(Probe, IsDueAfterSoManyBytes) {
  const auto calls = [](Team& team) -> std::string {
    int outdated = 0;
    begin(team, {1, true, 4 * kProbedSlot, 10 * kProbedSlot, 0});
    team.when_due([](void* count) { ++*static_cast<int*>(count); }, &outdated);
    std::vector<std::byte> data(kProbedSlot);
    const auto long_bcast = [&](Protocol way) { bcast(team, data.data(), kProbedSlot, 0, way); };
    for (int i = 0; i < 3; ++i) long_bcast(Protocol::rule);
    if (team.due() != Look::nothing || outdated != 0) return "due too early";
    long_bcast(Protocol::pipeline);
    if (team.due() != Look::all || outdated != 1) return "not due after so many bytes";
    barrier(team, Protocol::flags);
    if (team.due() != Look::nothing || team.epoch() != 1 || !team.measured()) return "not measured";
    for (int i = 0; i < 9; ++i) long_bcast(Protocol::rule);
    if (team.due() != Look::nothing) return "what measuring moves has been counted";
    long_bcast(Protocol::rule);
    return team.due() == Look::all && outdated == 2 ? "" : "not due again";
  };
  EXPECT_EQ("", on_threads(2, kProbedSlot, WaitMode::yield, calls));
}

/// A glance outdates nothing: the protocols stay, and the store is no part of them.
TEST(Probe, GlancesMoreOftenThanItMeasures) {
  const auto calls = [](Team& team) -> std::string {
    int outdated = 0, glances = 0;
    begin(team, {1, true, 4 * kProbedSlot, 100 * kProbedSlot, 10 * kProbedSlot});
    std::vector<std::byte> data(kProbedSlot);
    const auto long_bcast = [&] { bcast(team, data.data(), kProbedSlot, 0, Protocol::pipeline); };
    for (int i = 0; i < 4; ++i) long_bcast();
    barrier(team);
    team.when_due([](void* count) { ++*static_cast<int*>(count); }, &outdated);
    for (int i = 0; i < 95; ++i) {
      long_bcast();
      glances += team.due() == Look::glance ? 1 : 0;
    }
    if (glances != 9) return "glances: " + std::to_string(glances);
    return outdated == 0 && team.epoch() == 1 ? "" : "a glance has outdated what was chosen";
  };
  EXPECT_EQ("", on_threads(2, kProbedSlot, WaitMode::yield, calls));
}

TEST(Probe, SeesACostThatHasChangedByHalf) {
  const SlotCosts before{{0.05, 0.03}, {0.06, 0.05}};
  EXPECT_FALSE(has_changed(before, {{0.50, 0.04}, {0.60, 0.04}}));
  EXPECT_TRUE(has_changed(before, {{0.05, 0.50}, {0.06, 0.05}}));
  EXPECT_TRUE(has_changed(before, {{0.05, 0.03}, {0.06, 0.03}}));
}

TEST(Probe, IsNeverDueWhereNobodyAsks) {
  const auto calls = [](Team& team) -> std::string {
    std::vector<std::byte> data(64 << 10);
    for (int i = 0; i < 200; ++i) bcast(team, data.data(), data.size(), 0);
    return team.due() != Look::nothing || team.epoch() != 0 ? "due" : "";
  };
  EXPECT_EQ("", on_threads(2, kProbedSlot, WaitMode::yield, calls));
}

TEST(Probe, KeepsAStoreThatWasAskedFor) {
  const auto calls = [](Team& team) -> std::string {
    begin(team, {1, false, 1});
    measure_all(team);
    return team.store() == Store::nontemporal ? "" : "the store has changed";
  };
  EXPECT_EQ("", on_threads(2, kProbedSlot, WaitMode::yield, calls, {},
                           {Slots::kUsual, Store::nontemporal}));
}

}  // namespace
}  // namespace unisono::node
