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

/// An arena of exactly what teams or messengers with these slots need, filled with what its last
/// user left.
template <class Users>
class TestArena {
 public:
  template <class Size>
  TestArena(const Size& size, std::size_t slots_or_ring_bytes)
      : lines_(Users::arena_bytes(size, slots_or_ring_bytes) / kLinePair) {
    for (auto& line : lines_) line.bytes.fill(std::byte{0xAB});
    Users::prepare(memory().data(), size);
  }
  std::span<std::byte> memory() {
    return {reinterpret_cast<std::byte*>(lines_.data()), lines_.size() * kLinePair};
  }

 private:
  struct alignas(kLinePair) Unit {
    std::array<std::byte, kLinePair> bytes;
  };
  std::vector<Unit> lines_;
};

/// body(rank) on a thread for each, which returns what is wrong with it; the first such text.
template <class Body>
std::string on_threads_of(int size, Body body) {
  std::mutex mutex;
  std::string problem;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      const std::string mine = body(rank);
      const std::lock_guard lock(mutex);
      if (problem.empty()) problem = mine;
    });
  for (std::thread& thread : threads) thread.join();
  return problem;
}

/// The same threshold for all kernels.
inline DirectFrom all_direct_from(std::size_t bytes) {
  return {bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes};
}

/// How many of them a ring has, and how they are written.
struct SlotsOfTest {
  std::size_t count = Slots::kUsual;
  Store store = Store::plain;
};

/// Small messages go all ways.
inline constexpr ReadAll kReadLittle{200, 600, 700, 500};

/// body(team) on every rank; as on_threads_of.
template <class Body>
std::string on_threads(const Groups& groups, std::size_t slot_bytes, WaitMode mode, Body body,
                       const DirectFrom& direct = {}, const SlotsOfTest& slots = {}) {
  const std::vector<pid_t> processes(static_cast<std::size_t>(groups.size()), getpid());
  TestArena<Team> arena(groups, slots.count * slot_bytes);
  return on_threads_of(groups.size(), [&](int rank) {
    Team team(arena.memory(), rank, groups, {mode}, {0, slot_bytes, slots.store});
    team.allow_direct(processes, direct);
    team.set_read_all(kReadLittle);
    return std::string(body(team));
  });
}

}  // namespace unisono::node
