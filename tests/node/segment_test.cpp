#include "node/segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace unisono::node {
namespace {

constexpr std::size_t kBytes = 1 << 20;

bool exists(const std::string& name) { return access(("/dev/shm" + name).c_str(), F_OK) == 0; }

TEST(Segment, IsSeenByWhoOpensIt) {
  auto made = Segment::create(kBytes);
  ASSERT_TRUE(made) << made.error();
  auto opened = Segment::open(made->name(), kBytes);
  ASSERT_TRUE(opened) << opened.error();
  ASSERT_EQ(opened->memory().size(), kBytes);
  EXPECT_NE(opened->memory().data(), made->memory().data());
  EXPECT_EQ(made->memory()[kBytes - 1], std::byte{0});
  made->memory()[kBytes - 1] = std::byte{7};
  EXPECT_EQ(opened->memory()[kBytes - 1], std::byte{7});
}

struct stat facts_of(const Segment& segment) {
  struct stat facts {};
  EXPECT_EQ(stat(("/dev/shm" + segment.name()).c_str(), &facts), 0);
  return facts;
}

std::size_t allocated(const Segment& segment) {
  return static_cast<std::size_t>(facts_of(segment).st_blocks) * 512;
}

TEST(Segment, IsPrivate) {
  const auto made = Segment::create(kBytes);
  ASSERT_TRUE(made) << made.error();
  EXPECT_EQ(facts_of(*made).st_mode & 0777, 0600U);
}

TEST(Segment, TakesMemoryForWhatIsAllocated) {
  auto made = Segment::create(kBytes);
  ASSERT_TRUE(made) << made.error();
  if (allocated(*made) == kBytes) GTEST_SKIP() << "this kernel cannot allocate a part";
  EXPECT_EQ(allocated(*made), 0U);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto opened = Segment::open(made->name(), kBytes);
  ASSERT_TRUE(opened) << opened.error();
  EXPECT_TRUE((*opened).allocate(opened->memory().subspan(page - 1, 2)));
  EXPECT_EQ(allocated(*made), 2 * page);
  EXPECT_TRUE((*made).allocate(made->memory()));
  EXPECT_EQ(allocated(*made), kBytes);
}

TEST(Segment, LivesOnWithoutItsName) {
  std::string name;
  {
    auto made = Segment::create(kBytes);
    ASSERT_TRUE(made) << made.error();
    name = made->name();
    const auto opened = Segment::open(name, kBytes);
    (*made).unlink();
    EXPECT_FALSE(exists(name));
    made->memory()[0] = std::byte{9};
    EXPECT_EQ(opened->memory()[0], std::byte{9});
  }
  const auto late = Segment::open(name, kBytes);
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().find(name), std::string::npos);
}

TEST(Segment, LeavesNothingBehind) {
  std::string name;
  {
    const auto made = Segment::create(kBytes);
    ASSERT_TRUE(made) << made.error();
    name = made->name();
    EXPECT_TRUE(exists(name));
  }
  EXPECT_FALSE(exists(name));
}

/// More than any /dev/shm has: the error comes here, and not as SIGBUS at the first access.
TEST(Segment, SaysThatThereIsNoRoom) {
  const auto made = Segment::create(std::size_t{1} << 50);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().find("/dev/shm"), std::string::npos) << made.error();
  EXPECT_EQ(made.error().find('\n'), std::string::npos) << made.error();
}

/// In a process whose /dev/shm has 1 MiB: zero, or the line of what went wrong; kCannot where no
/// process may have its own.
constexpr int kCannot = 1;
int use_up_a_small_folder() {
  if (unshare(CLONE_NEWNS) != 0 || mount("", "/", "", MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", "/dev/shm", "tmpfs", 0, "size=1m") != 0)
    return kCannot;
  auto first = Segment::create(kBytes), second = Segment::create(kBytes);
  if (!first) return __LINE__;
  if (!second) return 0;  // this kernel has allocated all of the first
  if (!(*first).allocate(first->memory().first(kBytes / 2))) return __LINE__;
  if ((*second).allocate(second->memory())) return __LINE__;
  if (Segment::create(kBytes)) return __LINE__;
  return 0;
}

/// Promised and not there any more: false, and no SIGBUS.
TEST(Segment, SaysThatItsRoomWasTakenByOthers) {
  const pid_t child = fork();
  if (child == 0) _exit(use_up_a_small_folder());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == kCannot) GTEST_SKIP() << "for root only";
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the line";
}

class ForeignFile : public testing::Test {
 protected:
  void make(mode_t mode, off_t bytes) {
    name_ = "/unisono-test-" + std::to_string(getpid());
    const int file = shm_open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    ASSERT_GE(file, 0) << std::strerror(errno);
    ASSERT_EQ(fchmod(file, mode), 0);
    ASSERT_EQ(ftruncate(file, bytes), 0);
    close(file);
  }
  void TearDown() override { shm_unlink(name_.c_str()); }
  std::string name_;
};

TEST_F(ForeignFile, IsRefusedWhenOthersMayOpenIt) {
  make(0666, kBytes);
  const auto opened = Segment::open(name_, kBytes);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().find("others may open it"), std::string::npos) << opened.error();
}

TEST_F(ForeignFile, IsRefusedWhenItIsTooShort) {
  make(0600, kBytes / 2);
  const auto opened = Segment::open(name_, kBytes);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().find("too short"), std::string::npos) << opened.error();
}

}  // namespace
}  // namespace unisono::node
