// Counted, not timed: a rank that has no core of its own gives the core away.
#include "wait/waiter.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/wait/counted_yields.h"

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
  const long before = t_yields;
  EXPECT_LE(sleeps_in(waiter, 1000), 5);  // of some 10 us, and the first yield comes after 200
  EXPECT_LE(t_yields - before, 1000 / 2);
}

TEST(Waiter, YieldsAfterEachTestWhereItIsTold) {
  wait::Window window;
  wait::Spin spin;
  Waiter waiter(WaitMode::yield, window, spin);
  while (window.at_once() > wait::Time(0)) window.looked_at_once(false);
  const long before = t_yields;
  EXPECT_LE(sleeps_in(waiter, 30), 0);
  EXPECT_GE(t_yields - before, 29);  // one wait of some looks at once first
}

TEST(Waiter, LooksAtOnceBeforeItYields) {
  wait::Window window;
  wait::Spin spin;
  Waiter waiter(WaitMode::yield, window, spin);
  const long before = t_yields;
  for (int i = 0; i < 1000; ++i) {
    waiter.nothing_came();
    waiter.something_came();
  }
  EXPECT_EQ(t_yields, before);
}

}  // namespace
}  // namespace unisono
