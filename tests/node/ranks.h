// Ranks as threads over an arena in plain memory.
#pragma once
#include <unistd.h>

#include <array>
#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "node/team.h"

namespace unisono::node {

/// An arena of exactly what a team with these slots needs, filled with what its last user left.
class TestArena {
 public:
  TestArena(const Groups& groups, std::size_t slot_bytes)
      : lines_(Team::arena_bytes(groups, slot_bytes) / kLine) {
    for (auto& line : lines_) line.bytes.fill(std::byte{0xAB});
    Team::prepare(memory().data(), groups);
  }
  std::span<std::byte> memory() {
    return {reinterpret_cast<std::byte*>(lines_.data()), lines_.size() * kLine};
  }

 private:
  struct alignas(kLine) Unit {
    std::array<std::byte, kLine> bytes;
  };
  std::vector<Unit> lines_;
};

/// The same threshold for all kernels.
inline DirectFrom all_direct_from(std::size_t bytes) {
  return {bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes};
}

/// Small messages go all ways.
inline constexpr ReadAll kReadLittle{200, 600, 700, 500};

/// body(team) on every rank, which returns what is wrong with it; the first such text.
template <class Body>
std::string on_threads(const Groups& groups, std::size_t slot_bytes, WaitMode mode, Body body,
                       const DirectFrom& direct = {}) {
  const std::vector<pid_t> processes(static_cast<std::size_t>(groups.size()), getpid());
  TestArena arena(groups, slot_bytes);
  std::mutex mutex;
  std::string problem;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < groups.size(); ++rank)
    threads.emplace_back([&, rank] {
      Team team(arena.memory(), rank, groups, {mode});
      team.allow_direct(processes, direct);
      team.set_read_all(kReadLittle);
      const std::string mine = body(team);
      const std::lock_guard lock(mutex);
      if (problem.empty()) problem = mine;
    });
  for (std::thread& thread : threads) thread.join();
  return problem;
}

}  // namespace unisono::node
