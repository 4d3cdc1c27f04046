// Counted, not timed: a rank that has no core of its own gives the core away.
#include "wait/waiter.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace unisono {
namespace {

/// Of this thread; a yield is none.
long sleeps() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

long sleeps_in(Waiter& waiter, int tests) {
  const long before = sleeps();
  for (int i = 0; i < tests; ++i) waiter.nothing_came();
  return sleeps() - before;
}

TEST(Waiter, SleepsBetweenTestsWhenThereIsNoCore) {
  Waiter waiter(WaitMode::sleep);
  EXPECT_LE(sleeps_in(waiter, 1), 0);
  for (const long before = sleeps(); sleeps() == before;) waiter.nothing_came();
  // The first sleep has told what sleeping costs, and the rank may yield as much as that.
  for (const long before = sleeps(); sleeps() == before;) waiter.nothing_came();
  EXPECT_GE(sleeps_in(waiter, 100), 5);
}

TEST(Waiter, SpinsWhenThereIsOne) {
  Waiter waiter(WaitMode::spin);
  EXPECT_LE(sleeps_in(waiter, 1000), 5);
}

}  // namespace
}  // namespace unisono
