// The same with processes, over a real segment, and what happens when one of them dies.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "node/pool.h"
#include "node/segment.h"
#include "node/single_copy.h"
#include "tests/node/calls.h"
#include "tests/node/messages.h"
#include "tests/node/ranks.h"

namespace unisono::node {
namespace {

constexpr int kRight = 0, kWrong = 1, kNoticed = 42;
constexpr std::size_t kSegment = 64 * Pool::kUnit;

/// In place of the MPI library: how the ranks tell each other of the arena.
struct Launch {
  std::atomic<int> opened{0};
  std::atomic<std::size_t> offset{0}, bytes{0};
  std::atomic<int> rounds{0};
  std::atomic<bool> killed{false};
  std::array<pid_t, 8> processes{};
};

class Processes : public testing::Test {
 protected:
  void SetUp() override {
    void* page =
        mmap(nullptr, sizeof(Launch), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    launch_ = new (page) Launch;
  }
  void TearDown() override {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
    munmap(launch_, sizeof(Launch));
  }

  /// A rank each; rank 0 takes the arena and prepares it. body(pool, team) gives the exit status.
  void start(int size, WaitPolicy policy, std::function<int(Pool&, Team&)> body) {
    auto segment = Segment::create(kSegment);
    ASSERT_TRUE(segment) << segment.error();
    Pool::prepare(segment->memory());
    for (int rank = 0; rank < size; ++rank) {
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) _exit(run_rank(segment->place(), rank, size, policy, body));
      children_.push_back(child);
    }
    while (launch_->opened < size) std::this_thread::yield();
  }

  int run_rank(const SegmentPlace& place, int rank, int size, WaitPolicy policy,
               const std::function<int(Pool&, Team&)>& body) {
    auto segment = Segment::open(place);
    launch_->processes[static_cast<std::size_t>(rank)] = getpid();
    ++launch_->opened;
    if (!segment) return kWrong;
    Pool pool(segment->memory());
    if (rank == 0) {
      const auto arena = pool.take(Team::arena_bytes(size, Slots::kUsual * 1024));
      if (!arena) return kWrong;
      Team::prepare(pool.memory(*arena).data(), size);
      launch_->bytes = arena->bytes;
      launch_->offset = arena->offset;
    }
    while (launch_->offset == 0) std::this_thread::yield();
    Team team(pool.memory(arena()), rank, size, policy);
    return body(pool, team);
  }

  Arena arena() const { return {launch_->offset, launch_->bytes}; }

  int status_of_next() {
    int status = 0;
    waitpid(children_.back(), &status, 0);
    children_.pop_back();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  Launch* launch_ = nullptr;
  std::vector<pid_t> children_;
};

/// As the runtime is to do it: all ranks may copy directly, or none.
bool all_can_reach_all(Team& team, std::span<const pid_t> processes) {
  std::uint64_t word = random_word(1, static_cast<std::uint64_t>(getpid()));
  struct Probe {
    std::uint64_t* address;
    std::uint64_t value;
  };
  std::array<Probe, 8> probes;
  const Probe mine{&word, word};
  allgather(team, reinterpret_cast<const std::byte*>(&mine),
            reinterpret_cast<std::byte*>(probes.data()), sizeof mine);
  std::uint64_t refused = 0, anywhere = 0;
  for (std::size_t rank = 0; rank < processes.size(); ++rank)
    refused += can_reach(processes[rank], probes[rank].address, probes[rank].value) ? 0 : 1;
  allreduce(team, reinterpret_cast<const std::byte*>(&refused),
            reinterpret_cast<std::byte*>(&anywhere), 1, *built_in(Op::sum, Element::uint64));
  return anywhere == 0;
}

class ProcessesCopying : public Processes,
                         public testing::WithParamInterface<std::tuple<WaitMode, std::size_t>> {};

TEST_P(ProcessesCopying, RunCallsInRandomOrder) {
  const auto [mode, direct_from] = GetParam();
  start(4, {mode}, [this, from = direct_from](Pool& pool, Team& team) {
    const auto processes = std::span<const pid_t>(launch_->processes).first<4>();
    if (from != DirectFrom::kNever && all_can_reach_all(team, processes))
      team.allow_direct(processes, all_direct_from(from));
    team.set_read_all(kReadLittle);
    for (std::uint64_t i = 0; i < 400; ++i)
      if (!run_and_check(team, random_call(i, team.size(), 6000)).empty()) return kWrong;
    if (team.leave()) pool.give_back(arena());
    return kRight;
  });
  while (!children_.empty()) EXPECT_EQ(status_of_next(), kRight);
}

INSTANTIATE_TEST_SUITE_P(, ProcessesCopying,
                         testing::Combine(testing::Values(WaitMode::yield, WaitMode::sleep),
                                          testing::Values(DirectFrom::kNever, 1, 1000)));

/// From now on nobody but the superuser reads this process's memory, and it reads nobody's.
void become_unreachable() {
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0 && setresuid(kNobody, kNobody, kNobody) != 0) _exit(kWrong);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

class ProcessesCopyingDirectly : public ProcessesCopying {};
INSTANTIATE_TEST_SUITE_P(, ProcessesCopyingDirectly,
                         testing::Combine(testing::Values(WaitMode::yield, WaitMode::sleep),
                                          testing::Values(1, 1000)));

TEST_P(ProcessesCopyingDirectly, GoOnWhenARankBecomesUnreachable) {
  const auto [mode, direct_from] = GetParam();
  start(3, {mode}, [this, from = direct_from](Pool&, Team& team) {
    const auto processes = std::span<const pid_t>(launch_->processes).first<3>();
    if (!all_can_reach_all(team, processes)) return kRight;
    team.allow_direct(processes, all_direct_from(from));
    for (std::uint64_t i = 0; i < 200; ++i) {
      if (i == 100 && team.rank() == 1) become_unreachable();
      if (!run_and_check(team, random_call(i, team.size(), 6000)).empty()) return kWrong;
    }
    return team.direct_from().allreduce == DirectFrom::kNever ? kRight : kWrong;
  });
  while (!children_.empty()) EXPECT_EQ(status_of_next(), kRight);
}

/// An arena that rank 0 takes and prepares for a User, and all learn of; empty without room.
template <class User>
Arena take_arena(Pool& pool, Team& team, std::size_t slot_bytes) {
  Arena arena;
  if (team.rank() == 0)
    if (const auto taken = pool.take(User::arena_bytes(team.size(), slot_bytes))) {
      arena = *taken;
      User::prepare(pool.memory(arena).data(), team.size());
    }
  bcast(team, reinterpret_cast<std::byte*>(&arena), sizeof arena, 0);
  return arena;
}

TEST_P(ProcessesCopying, ExchangeMessagesInRandomOrder) {
  const auto [mode, direct_from] = GetParam();
  start(4, {mode}, [this, mode = mode, from = direct_from](Pool& pool, Team& team) {
    const Arena arena = take_arena<Messenger>(pool, team, 1024);
    if (arena.bytes == 0) return kWrong;
    Messenger messenger(pool.memory(arena), team.rank(), team.size(), {mode});
    const auto processes = std::span<const pid_t>(launch_->processes).first<4>();
    if (from != DirectFrom::kNever && all_can_reach_all(team, processes))
      messenger.allow_direct(processes, from);
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
      if (!exchange_randomly(messenger, team.rank(), team.size(), 20, 20'000, seed).empty())
        return kWrong;
    if (messenger.leave()) pool.give_back(arena);
    return kRight;
  });
  while (!children_.empty()) EXPECT_EQ(status_of_next(), kRight);
}

/// The last to leave gives the arena back, whoever it is; so there is always room for the next.
TEST_F(Processes, LeaveTheirArenasToTheNext) {
  start(3, {WaitMode::yield}, [](Pool& pool, Team& team) {
    for (int i = 0; i < 300; ++i) {
      std::uint64_t offset_and_bytes[2] = {0, 0};
      if (team.rank() == i % 3)
        if (const auto arena = pool.take(20 * Pool::kUnit)) {
          Team::prepare(pool.memory(*arena).data(), 3);
          offset_and_bytes[0] = arena->offset;
          offset_and_bytes[1] = arena->bytes;
        }
      bcast(team, reinterpret_cast<std::byte*>(offset_and_bytes), sizeof offset_and_bytes, i % 3);
      if (offset_and_bytes[0] == 0) return kWrong;
      const Arena arena{offset_and_bytes[0], offset_and_bytes[1]};
      Team next(pool.memory(arena), team.rank(), 3, {WaitMode::yield});
      if (!run_and_check(next, {What::allreduce, 100, 0, false, true, 1}).empty()) return kWrong;
      if (next.leave()) pool.give_back(arena);
      barrier(team);  // of two arenas there is room for one
    }
    return kRight;
  });
  while (!children_.empty()) EXPECT_EQ(status_of_next(), kRight);
}

/// Rank 2 dies in the middle of barriers or messages, and the others wait.
class KilledRank : public Processes, public testing::WithParamInterface<WaitMode> {
 protected:
  using Idle = void (*)(void* launch);

  void start_and_kill(Idle idle) {
    start_and_kill(idle, [this](Pool&, Team& team) {
      for (;;) {
        barrier(team);
        if (team.rank() == 0) ++launch_->rounds;
      }
      return kRight;
    });
  }
  void start_and_kill(Idle idle, std::function<int(Pool&, Team&)> body) {
    start(3, {GetParam(), idle, launch_}, std::move(body));
    while (launch_->rounds < 100) std::this_thread::yield();
    kill(children_.back(), SIGKILL);
    EXPECT_EQ(status_of_next(), -SIGKILL);
    launch_->killed = true;
  }
};

TEST_P(KilledRank, IsNoticedByWhoLooksForItMeanwhile) {
  start_and_kill([](void* launch) {
    if (static_cast<Launch*>(launch)->killed) _exit(kNoticed);
  });
  EXPECT_EQ(status_of_next(), kNoticed);
  EXPECT_EQ(status_of_next(), kNoticed);
}

TEST_P(KilledRank, IsNoticedByWhoWaitsForItsMessages) {
  const Idle idle = [](void* launch) {
    if (static_cast<Launch*>(launch)->killed) _exit(kNoticed);
  };
  start_and_kill(idle, [this, idle](Pool& pool, Team& team) {
    const Arena arena = take_arena<Messenger>(pool, team, 1024);
    Messenger messenger(pool.memory(arena), team.rank(), team.size(), {GetParam(), idle, launch_});
    Bytes sent(100), received(100);
    for (;;) {
      std::vector<std::uint32_t> done;
      messenger.send((team.rank() + 1) % 3, 0, sent.data(), sent.size(), {&done, 0});
      messenger.recv((team.rank() + 2) % 3, 0, received.data(), received.size(), {&done, 1});
      wait_for(messenger, done, 2);
      if (team.rank() == 0) ++launch_->rounds;
    }
    return kRight;
  });
  EXPECT_EQ(status_of_next(), kNoticed);
  EXPECT_EQ(status_of_next(), kNoticed);
}

TEST_P(KilledRank, LetsTheOthersWait) {
  start_and_kill(nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  for (const pid_t child : children_) EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0);
}

INSTANTIATE_TEST_SUITE_P(, KilledRank, testing::Values(WaitMode::yield, WaitMode::sleep));

}  // namespace
}  // namespace unisono::node
