// With made-up times.
#include "wait/spin.h"

#include <gtest/gtest.h>

namespace unisono::wait {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Time kAtOnce = Time(400);

/// How long a wait spins before it yields.
Time window_of(const Spin& spin) {
  Time spun(0);
  while (!spin.has_passed(spun)) spun += Time(100);
  return spun;
}

Spin after(int yields, Time took) {
  Spin spin;
  spin.yielded(kAtOnce);
  for (int i = 0; i < yields; ++i) spin.yielded(took);
  return spin;
}

TEST(Spin, StaysLongWhereNobodyElseWantsTheCore) {
  EXPECT_EQ(window_of(after(100, kAtOnce)), window_of(Spin()));
}

TEST(Spin, GetsShortWhereOthersGiveTheCoreBackSoon) {
  EXPECT_LT(window_of(after(4, microseconds(20))), window_of(Spin()) / 10);
  EXPECT_GE(window_of(after(100, microseconds(20))), kAtOnce);
}

TEST(Spin, GetsLongAgainWhenTheyHaveGone) {
  Spin spin = after(20, microseconds(20));
  for (int i = 0; i < 100; ++i) spin.yielded(kAtOnce);
  EXPECT_EQ(window_of(spin), window_of(Spin()));
}

TEST(Spin, IsNoShorterBesideOneThatComputes) {
  EXPECT_EQ(window_of(after(100, milliseconds(3))), window_of(Spin()));
  Spin spin = after(20, microseconds(20));
  for (int i = 0; i < 100; ++i) spin.yielded(milliseconds(3));
  EXPECT_EQ(window_of(spin), window_of(Spin()));
}

TEST(Spin, KnowsANeighbourThatWasThereFromTheBeginning) {
  Spin spin;
  for (int i = 0; i < 20; ++i) spin.yielded(microseconds(20));
  EXPECT_LT(window_of(spin), window_of(Spin()) / 10);
}

TEST(Spin, EndsInSomeLooksWhereTheClockIsCoarse) {
  Spin spin;
  for (int i = 0; i < 100; ++i) spin.yielded(Time(0));
  EXPECT_EQ(window_of(spin), window_of(Spin()));
}

TEST(SpinningWait, YieldsInTheEndAndFromThenOn) {
  Spin spin;
  SpinningWait wait(spin);
  EXPECT_FALSE(wait.look_again());
  while (!wait.look_again()) continue;
  EXPECT_TRUE(wait.look_again());
  wait.end();
  EXPECT_FALSE(wait.look_again());
}

}  // namespace
}  // namespace unisono::wait
