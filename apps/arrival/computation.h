// What a rank does before the collective.
#pragma once
#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace apps::arrival {

/// The loop of Figure 4.
inline void compute(long rounds) {
  static std::array<double, 1002> a{}, b{};
  for (long m = 0; m < rounds; ++m) {
    for (std::size_t k = 1; k < 1000; ++k) a[k] = b[k + 1] - a[k - 1] * 0.5;
    asm volatile("" : : "r"(a.data()) : "memory");
  }
}

inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Rounds of it in a second of a processor, on rank 0; the same for all ranks, as in the paper.
inline double calibrated() {
  constexpr long kRounds = 20000;
  const double begin = cpu_seconds();
  compute(kRounds);
  double rate = static_cast<double>(kRounds) / std::max(cpu_seconds() - begin, 1e-9);
  PMPI_Bcast(&rate, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return rate;
}

/// Sleeps, as if this rank had a processor of its own; the last moment awake, to be punctual.
inline void pause_for(double seconds) {
#ifdef UNISONO_FLAVOUR_SMPI
  constexpr double kAwake = 0;  // simulated sleep is punctual, and looking at the clock costs
#else
  constexpr double kAwake = 100e-6;
#endif
  const double end = MPI_Wtime() + seconds;
  if (seconds > 2 * kAwake) {
    const double asleep = seconds - kAwake;
    timespec time{};
    time.tv_sec = static_cast<time_t>(asleep);
    time.tv_nsec = static_cast<long>((asleep - static_cast<double>(time.tv_sec)) * 1e9);
    nanosleep(&time, nullptr);
  }
  while (MPI_Wtime() < end) {
  }
}

/// r of a rank in a pattern: the same in every run, whatever the algorithm.
inline int drawn(int max_if, int pattern, int rank) {
  std::uint64_t x = (static_cast<std::uint64_t>(max_if) << 40) ^
                    (static_cast<std::uint64_t>(pattern) << 20) ^ static_cast<std::uint64_t>(rank);
  x += 0x9e3779b97f4a7c15;  // SplitMix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return static_cast<int>((x ^ (x >> 31)) % static_cast<std::uint64_t>(max_if));
}

}  // namespace apps::arrival
