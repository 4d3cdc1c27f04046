// Counted, not timed: a rank that has no core of its own gives the core away.
#include "exec/wait.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace unisono {
namespace {

long sleeps_in(WaitMode mode, int tests) {
  const auto slept = [] {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  };
  const long before = slept();
  Waiter waiter(mode);
  for (int i = 0; i < tests; ++i) waiter.nothing_came();
  return slept() - before;
}

TEST(Waiter, SleepsBetweenTestsWhenThereIsNoCore) {
  EXPECT_GE(sleeps_in(WaitMode::sleep, 1000), 700);
}

TEST(Waiter, SpinsWhenThereIsOne) { EXPECT_LE(sleeps_in(WaitMode::spin, 1000), 5); }

}  // namespace
}  // namespace unisono
