// Communicators that the program and Unisono make at the same time.
#include "comm/making.h"

#include <gtest/gtest.h>

#include <latch>
#include <thread>

namespace unisono {
namespace {

using namespace std::chrono_literals;

TEST(Making, UnisonoWaitsForWhatTheProgramMakes) {
  std::latch begun(1);
  std::jthread program([&] {
    const ProgramMakes makes;
    begun.count_down();
    std::this_thread::sleep_for(5ms);
  });
  begun.wait();
  EXPECT_TRUE(UnisonoMakes(1h).may());
}

TEST(Making, NobodyWaitsAgainForWhatLasts) {
  {
    const ProgramMakes makes;
    EXPECT_FALSE(UnisonoMakes(1ms).may());
    EXPECT_FALSE(UnisonoMakes(24h).may());
  }
  EXPECT_TRUE(UnisonoMakes().may());
}

TEST(Making, TheProgramWaitsForUnisono) {
  std::latch begun(1);
  bool unisono_is_done = false;
  std::jthread unisono([&] {
    const UnisonoMakes makes;
    begun.count_down();
    std::this_thread::sleep_for(5ms);
    unisono_is_done = true;
  });
  begun.wait();
  const ProgramMakes makes;
  EXPECT_TRUE(unisono_is_done);
}

}  // namespace
}  // namespace unisono
