// Whether several threads of the program may be in MPI at once.
#pragma once
#include <atomic>

namespace unisono {

/// MPI_THREAD_MULTIPLE was provided. Otherwise at most one thread is in MPI at a time, and what the
/// last call has left behind needs neither locked instructions nor a copy for each thread, whose
/// address a function would have to find. Constant from the end of MPI_Init on.
extern constinit bool g_several_threads;

/// One call more.
inline void count(std::atomic<unsigned long long>& calls) {
  if (g_several_threads)
    calls.fetch_add(1, std::memory_order_relaxed);
  else
    calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace unisono
