// How often a program gives its core away: each of its calls of sched_yield is counted, and made.
// Included by one source of a program.
#pragma once
#include <sys/syscall.h>
#include <unistd.h>

namespace unisono {

inline thread_local long t_yields = 0;  ///< of this thread

}  // namespace unisono

extern "C" int sched_yield() noexcept {
  ++unisono::t_yields;
  return static_cast<int>(syscall(SYS_sched_yield));
}
