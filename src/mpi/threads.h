// Whether several threads of the program may be in MPI at once.
#pragma once
#include <atomic>

namespace unisono {

/// MPI_THREAD_MULTIPLE was provided, or may be to a session. Otherwise at most one thread is in MPI
/// at a time, and what the last call has left behind needs neither locked instructions nor a copy
/// for each thread, whose address a function would have to find. From the end of MPI_Init on it
/// changes at most once, to true: whoever asks twice within a call must be right with both answers.
extern constinit std::atomic<bool> g_several_threads;
/// A session was made, whose level may be another than that of MPI_Init, before or after that.
extern constinit std::atomic<bool> g_session_threads;

inline bool several_threads() { return g_several_threads.load(std::memory_order_relaxed); }

/// One call more.
inline void count(std::atomic<unsigned long long>& calls) {
  if (several_threads())
    calls.fetch_add(1, std::memory_order_relaxed);
  else
    calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace unisono
