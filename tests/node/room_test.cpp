// When the pages of a team's rings are allocated.
#include "node/room.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "node/kernels.h"
#include "node/pages.h"
#include "node/probe.h"
#include "tests/node/ranks.h"

namespace unisono::node {
namespace {

constexpr int kRanks = 3;
constexpr std::size_t kRing = 1 << 20;

/// An arena of which nobody has written more than its flags.
class Arena {
 public:
  Arena()
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        bytes_((Team::arena_bytes(kRanks, kRing) + page_ - 1) / page_ * page_),
        memory_(static_cast<std::byte*>(
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    Team::prepare(memory_, kRanks);
  }
  ~Arena() { munmap(memory_, bytes_); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  std::span<std::byte> memory() const { return {memory_, Team::arena_bytes(kRanks, kRing)}; }
  std::size_t allocated() const {
    std::vector<unsigned char> pages(bytes_ / page_);
    EXPECT_EQ(mincore(memory_, bytes_, pages.data()), 0);
    return page_ * static_cast<std::size_t>(std::count_if(
                       pages.begin(), pages.end(), [](unsigned char page) { return page & 1; }));
  }
  /// What the flags of all ranks take.
  std::size_t books() const { return (Team::bytes_before_slots(kRanks) / page_ + 1) * page_; }
  /// The last rank can allocate no more than a half of its ring.
  void cut() { munmap(memory_ + bytes_ - kRing / 4 / page_ * page_, page_); }
  bool can_be_in_parts() const { return allocates_parts(memory_); }
  std::size_t page() const { return page_; }

 private:
  std::size_t page_, bytes_;
  std::byte* memory_;
};

/// The sum over the ranks of `count` numbers, and whether it is right.
bool adds(Team& team, std::size_t count) {
  std::vector<double> mine(count), sum(count);
  std::iota(mine.begin(), mine.end(), team.rank());
  allreduce(team, reinterpret_cast<const std::byte*>(mine.data()),
            reinterpret_cast<std::byte*>(sum.data()), count, *built_in(Op::sum, Element::float64));
  for (std::size_t i = 0; i < count; ++i)
    if (sum[i] != kRanks * static_cast<double>(i) + kRanks * (kRanks - 1) / 2.0) return false;
  return true;
}

template <class Body>
std::string on_teams(const Arena& arena, Body body) {
  return on_threads_of(kRanks, [&](int rank) -> std::string {
    Team team(arena.memory(), rank, kRanks, {WaitMode::sleep});
    team.begin_without_room();
    return body(team);
  });
}

TEST(Room, IsNotAllocatedWhileMessagesGoInCells) {
  const Arena arena;
  const std::string problem = on_teams(arena, [](Team& team) -> std::string {
    for (int i = 0; i < 50; ++i) {
      barrier(team);
      if (!adds(team, 1) || !adds(team, kInline / sizeof(double))) return "wrong sum";
    }
    return "";
  });
  EXPECT_EQ(problem, "");
  EXPECT_LE(arena.allocated(), arena.books());
}

TEST(Room, IsWhatSlotsInFlightNeedUntilAllIsMeasured) {
  const Arena arena;
  if (!arena.can_be_in_parts()) GTEST_SKIP() << "this kernel allocates all at once";
  std::size_t first = 0, before = 0;
  const std::string problem = on_teams(arena, [&](Team& team) -> std::string {
    if (team.room() != 0 || team.first_room() >= kRing / 2) return "too much at first";
    if (!make_room(team, team.first_room())) return "no room";
    for (int i = 0; i < 30; ++i)
      for (const std::size_t count : {20, 500, 3000, 50'000})
        if (!adds(team, count)) return "wrong sum at first";
    barrier(team);
    if (team.rank() == 0) first = team.first_room(), before = arena.allocated();
    barrier(team);
    measure_all(team);
    if (team.room() != team.ring_bytes()) return "not all of the ring";
    for (int i = 0; i < 30; ++i)
      for (const std::size_t count : {20, 500, 3000, 50'000})
        if (!adds(team, count)) return "wrong sum with all of the ring";
    return "";
  });
  EXPECT_EQ(problem, "");
  EXPECT_GE(before, kRanks * first);
  EXPECT_LE(before, arena.books() + kRanks * (first + 2 * arena.page()));
  EXPECT_GE(arena.allocated(), kRanks * (kRing - kLinePair));
}

/// The ranks that could have more go on with what all have.
TEST(Room, IsRefusedOnAllRanksWhereOneHasNone) {
  Arena arena;
  if (!arena.can_be_in_parts()) GTEST_SKIP() << "this kernel allocates all at once";
  arena.cut();
  const std::string problem = on_teams(arena, [](Team& team) -> std::string {
    if (!make_room(team, team.first_room())) return "no room for the first slots";
    if (make_room(team, team.ring_bytes())) return "room that one rank does not have";
    measure_all(team);
    if (team.measured()) return "measured in memory that is not there";
    for (int i = 0; i < 30; ++i)
      for (const std::size_t count : {1, 500, 50'000})
        if (!adds(team, count)) return "wrong sum";
    return "";
  });
  EXPECT_EQ(problem, "");
}

}  // namespace
}  // namespace unisono::node
