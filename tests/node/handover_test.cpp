// Files that are handed over a socket, and to whom.
#include "node/handover.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>

#include "node/segment.h"

namespace unisono::node {
namespace {

constexpr std::size_t kBytes = 1 << 16;
constexpr uid_t kSomebody = 65532, kStranger = 65533;  // of no account

/// The exit status of a process of that user.
int status_of(uid_t user, const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    if (user != geteuid() && setresuid(user, user, user) != 0) _exit(99);
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class Handover : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(made_) << made_.error();
    ASSERT_TRUE(offered_);
  }
  Result<Segment> made_ = Segment::create(kBytes);
  HandoverName name_{};
  OwnFile offered_ = offer(name_);
};

TEST_F(Handover, ReachesAllWhoHaveCalled) {
  const std::array called{call_giver(name_), call_giver(name_), call_giver(name_)};
  give(offered_, made_->file());
  for (const OwnFile& one : called) {
    ASSERT_TRUE(one);
    const auto taken = Segment::adopt(take(one), made_->place());
    ASSERT_TRUE(taken) << taken.error();
    made_->memory()[5] ^= std::byte{1};
    EXPECT_EQ(taken->memory()[5], made_->memory()[5]);
  }
}

TEST_F(Handover, EndsWhereNothingIsGiven) {
  EXPECT_FALSE(call_giver({"unisono-nobody"}));
  EXPECT_FALSE(call_giver({}));
  const OwnFile called = call_giver(name_);
  give(offered_, -1);
  EXPECT_EQ(take(called), -1);
}

TEST_F(Handover, AnotherFileThanTheOneThatWasToldIsRefused) {
  const auto other = Segment::create(kBytes);
  const OwnFile called = call_giver(name_);
  give(offered_, other->file());
  const auto taken = Segment::adopt(take(called), made_->place());
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().find("another file"), std::string::npos) << taken.error();
}

TEST_F(Handover, AStrangerGetsNothing) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  std::array<int, 2> ready{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ready.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setresuid(kStranger, kStranger, kStranger) != 0) _exit(99);
    const OwnFile called = call_giver(name_);
    static_cast<void>(write(ready[1], "", 1));
    _exit(called && take(called) == -1 ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  give(offered_, made_->file());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(ready[0]);
  close(ready[1]);
}

/// A process that forbids to be traced shows its files to nobody but root.
TEST(UndumpableGiver, HandsOverWhatCannotBeOpened) {
  if (geteuid() != 0) GTEST_SKIP() << "root becomes an ordinary user here";
  const int status = status_of(kSomebody, [] {
    prctl(PR_SET_DUMPABLE, 0);
    const auto made = Segment::create(kBytes);
    HandoverName name{};
    const OwnFile offered = offer(name);
    if (!made || !offered) return 1;
    const SegmentPlace place = made->place();
    const pid_t child = fork();
    if (child == 0) {
      if (Segment::open(place)) _exit(2);
      const OwnFile called = call_giver(name);
      _exit(called && Segment::adopt(take(called), place) ? 0 : 3);
    }
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      give(offered, made->file());
      usleep(200);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 4;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace unisono::node
