#include "node/single_copy.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <vector>

#include "node/direct.h"
#include "tests/node/calls.h"
#include "tests/node/ranks.h"

namespace unisono::node {
namespace {

constexpr std::size_t kPage = 4096;

/// A process that has what this one had, and waits.
class SingleCopy : public testing::Test {
 protected:
  void SetUp() override {
    child_ = fork();
    ASSERT_GE(child_, 0);
    if (child_ == 0)
      for (;;) pause();
    if (!can_reach(child_, &word_, kWord)) GTEST_SKIP() << "not allowed here";
  }
  void TearDown() override { end_child(); }
  void end_child() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = 0;
  }

  static constexpr std::uint64_t kWord = 0x0123456789abcdef;
  Bytes bytes_ = contribution({}, 1, 10 * kPage + 77);
  std::uint64_t word_ = kWord;
  pid_t child_ = 0;
};

TEST_F(SingleCopy, ReadsAndWritesAnotherProcess) {
  const Bytes before = bytes_;
  std::fill(bytes_.begin(), bytes_.end(), std::byte{0});
  Bytes read(bytes_.size());
  ASSERT_TRUE(read_memory(child_, read.data(), bytes_.data(), read.size()));
  EXPECT_EQ(read, before);
  ASSERT_TRUE(write_memory(child_, bytes_.data(), bytes_.data(), 5000));
  ASSERT_TRUE(read_memory(child_, read.data(), bytes_.data(), read.size()));
  Bytes expected = before;
  std::fill_n(expected.begin(), 5000, std::byte{0});
  EXPECT_EQ(read, expected);
}

TEST_F(SingleCopy, OfNothingIsNothing) {
  EXPECT_TRUE(read_memory(child_, nullptr, nullptr, 0));
  EXPECT_TRUE(write_memory(child_, nullptr, nullptr, 0));
}

TEST_F(SingleCopy, FailsWhereThereIsNoMemory) {
  void* hole = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(hole, MAP_FAILED);
  auto* pages = static_cast<std::byte*>(hole);
  ASSERT_EQ(munmap(pages + kPage, kPage), 0);
  Bytes read(2 * kPage);
  EXPECT_TRUE(read_memory(getpid(), read.data(), pages, kPage));
  EXPECT_FALSE(read_memory(getpid(), read.data(), pages, 2 * kPage));
  EXPECT_EQ(errno, EFAULT);
  munmap(pages, kPage);
}

TEST_F(SingleCopy, ProbeComparesBeforeItWrites) {
  EXPECT_TRUE(can_reach(getpid(), &word_, kWord));
  EXPECT_FALSE(can_reach(child_, &word_, kWord + 1));
  EXPECT_TRUE(can_reach(child_, &word_, kWord));  // as it was
  EXPECT_FALSE(can_reach(child_, nullptr, kWord));
}

TEST_F(SingleCopy, IsTriedNoMoreWhenARankIsGone) {
  TestArena<Team> arena(2, Slots::kUsual * 128);
  Team team(arena.memory(), 0, 2, {});
  const std::array<pid_t, 2> processes = {getpid(), child_};
  team.allow_direct(processes, {});
  Bytes buffer(8);
  EXPECT_TRUE(pull(team, 1, buffer.data(), bytes_.data(), 8));
  const pid_t gone = child_;
  end_child();
  EXPECT_FALSE(can_reach(gone, &word_, kWord));
  EXPECT_FALSE(push(team, 1, bytes_.data(), buffer.data(), 8));
  EXPECT_FALSE(team.may_copy());
  EXPECT_TRUE(pull(team, 0, buffer.data(), bytes_.data(), 8));  // its own
}

}  // namespace
}  // namespace unisono::node
