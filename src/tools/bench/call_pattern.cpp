#include "tools/bench/call_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <iterator>

namespace unisono::bench {

namespace {

constexpr std::array<std::string_view, 4> kNames = {"barrier", "loop", "sleep", "compute"};

/// splitmix64 (Steele, Lea, Flood 2014): neighbouring numbers give unrelated ones.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

std::string_view pattern_name(CallPattern pattern) {
  return kNames[static_cast<std::size_t>(pattern)];
}

std::optional<CallPattern> pattern_named(std::string_view name) {
  const auto* const it = std::find(kNames.begin(), kNames.end(), name);
  if (it == kNames.end()) return std::nullopt;
  return static_cast<CallPattern>(std::distance(kNames.begin(), it));
}

std::string pattern_names() { return fmt::format("{}", fmt::join(kNames, ", ")); }

void sleep_before_call() {
  timespec left = {0, std::chrono::nanoseconds(kSleep).count()};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

std::chrono::nanoseconds computing_time(std::uint64_t seed, std::uint64_t block, int call,
                                        int rank) {
  std::uint64_t x = mixed(seed);
  x = mixed(x ^ block);
  x = mixed(x ^ static_cast<std::uint64_t>(call));
  x = mixed(x ^ static_cast<std::uint64_t>(rank));
  const auto longest =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(kLongestComputing).count());
  return std::chrono::nanoseconds(x % longest);
}

namespace {

std::chrono::nanoseconds processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

void compute_for(std::chrono::nanoseconds time) {
  constexpr int kStepsBetweenLooks = 512;
  const auto end = processor_time() + time;
  volatile double kept = 1;  // what nobody reads would be left out
  while (processor_time() < end)
    for (int i = 0; i < kStepsBetweenLooks; ++i) kept = kept * 0.999 + 0.001;
}

}  // namespace unisono::bench
