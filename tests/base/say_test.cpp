// A line of ours, byte for byte: other programs put a NUL byte between lines (Open MPI after its
// words about an error that is fatal), and it must not be this one.
#include "base/say.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace unisono {
namespace {

TEST(Say, WritesALineAndNothingElse) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const int before = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  say("process 7 has ended");
  say_in_need("no memory");
  dup2(before, STDERR_FILENO);
  close(before);
  close(ends[1]);
  std::string said(200, '?');
  said.resize(static_cast<std::size_t>(read(ends[0], said.data(), said.size())));
  close(ends[0]);
  EXPECT_EQ(said, "unisono: process 7 has ended\nunisono: no memory\n");
}

/// As a program does that closes descriptor 2, and opens a file of its own.
TEST(Say, KeepsOutOfFilesOfTheProgram) {
  std::string name = testing::TempDir() + "say.XXXXXX";
  const int before = dup(STDERR_FILENO);
  close(STDERR_FILENO);
  EXPECT_FALSE(user_reads());
  ASSERT_EQ(mkstemp(name.data()), STDERR_FILENO);
  EXPECT_FALSE(user_reads());
  say("process 7 has ended");
  say_in_need("no memory");
  const off_t length = lseek(STDERR_FILENO, 0, SEEK_END);
  dup2(before, STDERR_FILENO);
  close(before);
  unlink(name.c_str());
  EXPECT_EQ(length, 0);
  EXPECT_TRUE(user_reads());
}

/// Runs `what` with another descriptor as standard error.
template <class What>
void with_standard_error(int descriptor, const What& what) {
  const int before = dup(STDERR_FILENO);
  dup2(descriptor, STDERR_FILENO);
  what();
  dup2(before, STDERR_FILENO);
  close(before);
}

TEST(Say, PipesWithoutAReaderEndNothing) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  close(ends[0]);
  with_standard_error(ends[1], [] {
    EXPECT_FALSE(user_reads());
    say("process 7 has ended");
    say_in_need("no memory");
  });
  close(ends[1]);
}

TEST(Say, FullPipesHoldNothingUp) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_NONBLOCK), 0);
  const std::string much(1 << 20, 'x');
  while (write(ends[1], much.data(), much.size()) > 0) {
  }
  ASSERT_EQ(fcntl(ends[1], F_SETFL, 0), 0);  // whose writers wait
  with_standard_error(ends[1], [] {
    for (int i = 0; i < 1000; ++i) say("process 7 has ended");
    say_in_need("no memory");
    EXPECT_FALSE(user_reads());
  });
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace unisono
