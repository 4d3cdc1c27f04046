#include "node/segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <set>
#include <string>

#include "node/pages.h"

namespace unisono::node {
namespace {

constexpr std::size_t kBytes = 1 << 20;

struct stat facts_of(const Segment& segment) {
  struct stat facts {};
  EXPECT_EQ(fstat(segment.file(), &facts), 0);
  return facts;
}

std::size_t allocated(const Segment& segment) {
  return static_cast<std::size_t>(facts_of(segment).st_blocks) * 512;
}

TEST(Segment, IsSeenByWhoOpensIt) {
  auto made = Segment::create(kBytes);
  ASSERT_TRUE(made) << made.error();
  auto opened = Segment::open(made->place());
  ASSERT_TRUE(opened) << opened.error();
  ASSERT_EQ(opened->memory().size(), kBytes);
  EXPECT_NE(opened->memory().data(), made->memory().data());
  EXPECT_EQ(made->memory()[kBytes - 1], std::byte{0});
  made->memory()[kBytes - 1] = std::byte{7};
  EXPECT_EQ(opened->memory()[kBytes - 1], std::byte{7});
}

TEST(Segment, IsPrivate) {
  const auto made = Segment::create(kBytes);
  ASSERT_TRUE(made) << made.error();
  EXPECT_EQ(facts_of(*made).st_mode & 0777, 0600U);
  EXPECT_EQ(facts_of(*made).st_nlink, 0U) << "it has a name";
}

TEST(Segment, TakesMemoryForWhatIsAllocated) {
  auto made = Segment::create(kBytes);
  ASSERT_TRUE(made) << made.error();
  if (allocated(*made) == kBytes) GTEST_SKIP() << "this kernel cannot allocate a part";
  EXPECT_EQ(allocated(*made), 0U);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto opened = Segment::open(made->place());
  ASSERT_TRUE(opened) << opened.error();
  EXPECT_TRUE(allocate(opened->memory().subspan(page - 1, 2)));
  EXPECT_EQ(allocated(*made), 2 * page);
  EXPECT_TRUE(allocate(made->memory()));
  EXPECT_EQ(allocated(*made), kBytes);
}

TEST(Segment, LivesOnWhenItsFileIsClosed) {
  auto made = Segment::create(kBytes);
  ASSERT_TRUE(made) << made.error();
  const SegmentPlace place = made->place();
  const auto opened = Segment::open(place);
  (*made).close_file();
  made->memory()[0] = std::byte{9};
  EXPECT_EQ(opened->memory()[0], std::byte{9});
  const auto late = Segment::open(place);
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().find("process " + std::to_string(getpid())), std::string::npos);
}

std::set<std::string> names_in_shared_memory() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    if (const std::string name = entry.path().filename(); name.starts_with("unisono-"))
      names.insert(name);
  return names;
}

/// A child makes a segment and is killed when it enters or leaves a system call for the n-th time.
/// False: it has come to its end before.
bool dies_at(int n) {
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    auto made = Segment::create(kBytes);
    _exit(made && allocate(made->memory().first(1)) ? 0 : 1);
  }
  int status = 0;
  for (int stops = 0; waitpid(child, &status, 0) == child && WIFSTOPPED(status); ++stops) {
    if (stops == n) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
      return true;
    }
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  return false;
}

// No handler and no destructor runs then, and nobody else knows of it.
TEST(Segment, LeavesNothingBehindWheneverItsProcessIsKilled) {
  const auto before = names_in_shared_memory();
  int n = 1;
  while (dies_at(n)) ++n;
  EXPECT_GT(n, 10) << "system calls were not counted";
  const auto after = names_in_shared_memory();
  EXPECT_EQ(after, before);
  for (const std::string& name : after)
    if (!before.contains(name)) shm_unlink(("/" + name).c_str());
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
  if (!allocate(first->memory().first(kBytes / 2))) return __LINE__;
  if (allocate(second->memory())) return __LINE__;
  if (Segment::create(kBytes)) return __LINE__;
  return 0;
}

int status_of(int (*body)()) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Promised and not there any more: false, and no SIGBUS.
TEST(Segment, SaysThatItsRoomWasTakenByOthers) {
  const int status = status_of(use_up_a_small_folder);
  if (status == kCannot) GTEST_SKIP() << "for root only";
  EXPECT_EQ(status, 0) << "the line";
}

/// In a process without a /dev/shm: zero, or the line of what went wrong.
int use_memory_of_no_folder() {
  if (unshare(CLONE_NEWNS) != 0 || mount("", "/", "", MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", "/dev", "tmpfs", 0, "size=1m") != 0)
    return kCannot;
  auto made = Segment::create(4 * kBytes);
  if (!made) return __LINE__;
  if (!allocate(made->memory())) return __LINE__;
  const auto opened = Segment::open(made->place());
  if (!opened) return __LINE__;
  made->memory()[1] = std::byte{3};
  return opened->memory()[1] == std::byte{3} ? 0 : __LINE__;
}

TEST(Segment, NeedsNoFolder) {
  const int status = status_of(use_memory_of_no_folder);
  if (status == kCannot) GTEST_SKIP() << "for root only";
  EXPECT_EQ(status, 0) << "the line";
}

/// Where files may have 64 KiB: the kernel ends who goes beyond, by SIGXFSZ.
int make_too_large_a_file() {
  const rlimit limit{64 << 10, 64 << 10};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return __LINE__;
  const auto made = Segment::create(kBytes);
  if (made) return __LINE__;
  return made.error().find("ulimit -f") != std::string::npos &&
                 made.error().find("/dev/shm") == std::string::npos
             ? 0
             : __LINE__;
}

TEST(Segment, SaysThatFilesMayNotBeSoLarge) {
  EXPECT_EQ(status_of(make_too_large_a_file), 0) << "the line";
}

TEST(Segment, IsNoneButTheOneThatIsToBeThere) {
  const auto made = Segment::create(kBytes), other = Segment::create(kBytes);
  ASSERT_TRUE(made && other);
  const auto refusal = [](const SegmentPlace& place) {
    const auto opened = Segment::open(place);
    return opened ? "" : opened.error();
  };
  SegmentPlace place = made->place();
  place.inode = other->place().inode;
  EXPECT_NE(refusal(place).find("another file"), std::string::npos) << refusal(place);
  place = made->place();
  place.bytes = 2 * kBytes;
  EXPECT_NE(refusal(place).find("too short"), std::string::npos) << refusal(place);
  place = made->place();
  ASSERT_EQ(fchmod(made->file(), 0666), 0);
  EXPECT_NE(refusal(place).find("others may open it"), std::string::npos) << refusal(place);
  ASSERT_EQ(fchmod(made->file(), 0600), 0);
  if (geteuid() != 0) return;
  ASSERT_EQ(fchown(made->file(), 12345, 12345), 0);
  EXPECT_NE(refusal(place).find("another user"), std::string::npos) << refusal(place);
}

}  // namespace
}  // namespace unisono::node
