// Who is there: ranks are processes, and a name that another user holds is no rank.
#include "base/presence.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>
#include <iterator>

#include "tests/base/made_up_job.h"

namespace unisono::presence {
namespace {

constexpr std::array kTypes{SOCK_DGRAM, SOCK_STREAM, SOCK_SEQPACKET};

/// As a sandbox may.
void deny_connect() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(code), code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    _exit(1);
}

class Presence : public testing::Test {
 protected:
  static std::string job_name() {
    return "presence-test-" + std::to_string(getpid()) + "-" +
           testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  /// In whatever way a rank may be looked for.
  void stranger_takes(int rank, int callers = 16) {
    job_.start_stranger(kStranger, [this, rank, callers] {
      for (const int type : kTypes) take_name(job_.name_of(rank), type, callers);
    });
  }
  /// As any user may: it has no room for more until it looks around.
  void call_until_full(int rank) const {
    int calls = 0;
    for (int file = 0; calls < 100'000 && file >= 0; ++calls) {
      file = call(job_.name_of(rank), SOCK_SEQPACKET);
      if (file >= 0) close(file);
    }
    EXPECT_GT(calls, 100);
    EXPECT_LT(calls, 100'000) << "no end of callers";
  }
  static void skip_unless_root() {
    if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  }

  MadeUpJob job_{3, job_name()};
};

TEST_F(Presence, AllAreThereAndTheFirstOneSpeaks) {
  for (const int rank : {2, 0, 1}) job_.start_rank(rank);
  int speakers = 0;
  for (const Attendance& seen : job_.look()) {
    EXPECT_EQ(seen.ranks, 3);
    EXPECT_EQ(seen.absent, 0);
    speakers += seen.speaks ? 1 : 0;
  }
  EXPECT_EQ(speakers, 1);
}

TEST_F(Presence, WhoeverIsMissingIsCounted) {
  for (const int rank : {2, 1}) job_.start_rank(rank);
  int speakers = 0;
  for (const Attendance& seen : job_.look()) {
    EXPECT_EQ(seen.absent, 1);
    EXPECT_FALSE(seen.usurped);
    speakers += seen.speaks ? 1 : 0;
  }
  EXPECT_EQ(speakers, 1);
}

TEST_F(Presence, ARankWithoutANumberIsNotTakenForAMissingOne) {
  job_.start_rank(0);
  job_.start_rank(kNoRank);
  for (const Attendance& seen : job_.look()) EXPECT_EQ(seen.ranks, 0);
}

// Ranks would wait for ever for one that will not come.
TEST_F(Presence, AnotherUsersProcessIsNoRank) {
  skip_unless_root();
  if (IsSkipped()) return;
  for (const int rank : {0, 1}) job_.start_rank(rank);
  stranger_takes(2);
  stranger_takes(-1);  // of ranks that know no number
  for (const Attendance& seen : job_.look()) {
    EXPECT_EQ(seen.ranks, 3);
    EXPECT_EQ(seen.absent, 1);
    EXPECT_TRUE(seen.usurped);
  }
}

TEST_F(Presence, ARankWhoseNameIsTakenKnowsThatItIsNotSeen) {
  skip_unless_root();
  if (IsSkipped()) return;
  stranger_takes(1);
  for (const int rank : {0, 1, 2}) job_.start_rank(rank);
  for (const Attendance& seen : job_.look()) {
    EXPECT_EQ(seen.absent, 1);
    EXPECT_TRUE(seen.usurped);
  }
}

TEST_F(Presence, AHolderThatAdmitsNobodyKeepsNobodyWaiting) {
  skip_unless_root();
  if (IsSkipped()) return;
  for (const int rank : {0, 1}) job_.start_rank(rank);
  stranger_takes(2, 0);
  const int first = call(job_.name_of(2), SOCK_SEQPACKET);
  EXPECT_GE(first, 0);
  EXPECT_LT(call(job_.name_of(2), SOCK_SEQPACKET), 0) << "it admits more than one";
  for (const Attendance& seen : job_.look()) EXPECT_EQ(seen.absent, 1);
  close(first);
}

TEST_F(Presence, ARankThatManyHaveCalledIsSeenAllTheSame) {
  for (const int rank : {0, 1, 2}) job_.start_rank(rank);
  call_until_full(1);
  for (const Attendance& seen : job_.look()) EXPECT_EQ(seen.absent, 0);
}

// The others would run natively, and it would wait for them for ever.
TEST_F(Presence, ARankThatManyHaveCalledIsWaitedForWhileItIsLate) {
  for (const int rank : {0, 2}) job_.start_rank(rank);
  job_.start_rank(
      1, [] {}, [] { sleep(2); });
  call_until_full(1);
  for (const Attendance& seen : job_.look()) EXPECT_EQ(seen.absent, 0);
}

// The others would wait for it.
TEST_F(Presence, ARankThatMayNotLookIsNotSeen) {
  for (const int rank : {0, 2}) job_.start_rank(rank);
  job_.start_rank(1, deny_connect);
  for (const Attendance& seen : job_.look()) EXPECT_GE(seen.absent, 1);
}

TEST_F(Presence, WhereNobodyMayLookOneSpeaks) {
  for (const int rank : {0, 1, 2}) job_.start_rank(rank, deny_connect);
  int speakers = 0;
  for (const Attendance& seen : job_.look()) {
    EXPECT_EQ(seen.absent, 3);
    speakers += seen.speaks ? 1 : 0;
  }
  EXPECT_EQ(speakers, 1);
}

TEST_F(Presence, ARankLooksThoughItMayOpenNoMoreFiles) {
  for (const int rank : {0, 2}) job_.start_rank(rank);
  job_.start_rank(
      1, [] {},
      [] {
        const int next = open("/dev/null", O_RDONLY);
        const rlimit none{static_cast<rlim_t>(next), static_cast<rlim_t>(next)};
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
        close(next);
      });
  for (const Attendance& seen : job_.look()) EXPECT_EQ(seen.absent, 0);
}

TEST_F(Presence, ARankThatMayOpenFewFilesHoldsNone) {
  for (const int rank : {0, 2}) job_.start_rank(rank);
  job_.start_rank(1, [] {
    const rlimit few{63, 63};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  });
  EXPECT_EQ(names_shown().count(job_.name_of(1)), 0U);
  for (const Attendance& seen : job_.look()) EXPECT_GE(seen.absent, 1);
}

TEST_F(Presence, ADeadRankIsNotThere) {
  for (const int rank : {0, 1, 2}) job_.start_rank(rank);
  job_.end(0);
  EXPECT_EQ(names_shown().count(job_.name_of(0)), 0U);
}

}  // namespace
}  // namespace unisono::presence
