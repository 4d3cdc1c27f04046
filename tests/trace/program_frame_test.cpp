// The program's frame above a library's: here libc's qsort, which calls back.
#include "trace/program_frame.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <thread>

namespace unisono::trace {
namespace {

thread_local std::uint64_t g_site = 0, g_above = 0;
ProgramFrames* g_frames = nullptr;

int compare(const void* a, const void* b) {
  g_site = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  g_above = g_frames->above(g_site, __builtin_frame_address(0));
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

[[gnu::noinline]] std::uint64_t sorted() {
  int numbers[2] = {2, 1};
  std::qsort(numbers, 2, sizeof(int), compare);
  asm volatile("" ::: "memory");
  return g_above;
}

class ProgramFrame : public testing::Test {
 protected:
  void SetUp() override { g_frames = &frames_; }
  ProgramFrames frames_;
};

TEST_F(ProgramFrame, IsWhereTheProgramCalledTheLibrary) {
  const std::uint64_t found = sorted();
  const auto start = reinterpret_cast<std::uint64_t>(&sorted);
  EXPECT_GT(found, start);
  EXPECT_LT(found, start + 256);
  EXPECT_EQ(sorted(), found);
}

TEST_F(ProgramFrame, TwoCallsAtOneDepthAreToldApart) {
  int numbers[2] = {2, 1};
  std::set<std::uint64_t> found;
  for (int turn = 0; turn < 3; ++turn) {
    std::qsort(numbers, 2, sizeof(int), compare);
    found.insert(g_above);
    std::qsort(numbers, 2, sizeof(int), compare);
    found.insert(g_above);
  }
  EXPECT_EQ(found.size(), 2);
  EXPECT_FALSE(found.contains(0));
}

TEST_F(ProgramFrame, ACallOfTheProgramItselfHasNone) {
  const auto own = reinterpret_cast<std::uint64_t>(&sorted) + 1;
  EXPECT_EQ(frames_.above(own, __builtin_frame_address(0)), 0);
}

TEST_F(ProgramFrame, AnAddressThatIsOnNoStackHasNone) {
  EXPECT_EQ(frames_.above(1, __builtin_frame_address(0)), 0);
}

TEST_F(ProgramFrame, IsFoundInOtherThreads) {
  const std::uint64_t here = sorted();
  std::uint64_t there = 0;
  std::thread([&there] { there = sorted(); }).join();
  EXPECT_EQ(there, here);
}

}  // namespace
}  // namespace unisono::trace
