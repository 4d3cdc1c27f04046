// Direct copies that fail in the middle of calls: everything is right all the same, then and later.
#include <gtest/gtest.h>
#include <sys/uio.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "node/single_copy.h"
#include "tests/node/calls.h"
#include "tests/node/messages.h"
#include "tests/node/other_lengths.h"
#include "tests/node/ranks.h"

namespace unisono::node {
namespace {

/// So many transfers of this thread still work; negative: all.
thread_local int t_working = -1;
thread_local bool t_failed = false;

/// The last one that works moves a half.
ssize_t transfer(const iovec* to, const iovec* from) {
  const bool last = t_working == 1;
  if (t_working == 0) {
    t_failed = true;
    errno = EPERM;
    return -1;
  }
  if (t_working > 0) --t_working;
  const std::size_t bytes = last && to->iov_len > 1 ? to->iov_len / 2 : to->iov_len;
  std::memmove(to->iov_base, from->iov_base, bytes);
  return static_cast<ssize_t>(bytes);
}
ssize_t read_here(pid_t, const iovec* local, unsigned long, const iovec* remote, unsigned long,
                  unsigned long) {
  return transfer(local, remote);
}
ssize_t write_here(pid_t, const iovec* local, unsigned long, const iovec* remote, unsigned long,
                   unsigned long) {
  return transfer(remote, local);
}

class FailingCopies : public testing::TestWithParam<std::tuple<int, WaitMode>> {
 protected:
  void SetUp() override { g_system_copies = {read_here, write_here}; }
  void TearDown() override { g_system_copies = {}; }

  /// One rank's copies fail from somewhere on, or several ranks'.
  static void draw(std::uint64_t seed, int rank) {
    const auto draw = random_word(seed, static_cast<std::uint64_t>(1000 + rank));
    t_working = draw % 3 == 0 ? static_cast<int>(draw / 3 % 6) : -1;
    t_failed = false;
  }
};

TEST_P(FailingCopies, InTheMiddleOfCalls) {
  const auto [size, mode] = GetParam();
  std::atomic<int> failed{0};
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto calls = [&, seed](Team& team) -> std::string {
      draw(seed, team.rank());
      for (std::uint64_t i = 0; i < 4; ++i) {
        Call call = random_call(10 * seed + i, team.size(), 4000);
        if (call.what == What::barrier) call.what = What::allreduce;
        if (i == 0) call.what = static_cast<What>(1 + seed % (kWhats - 1));
        if (std::string wrong = run_and_check(team, call); !wrong.empty()) return wrong;
      }
      failed += t_failed ? 1 : 0;
      return "";
    };
    ASSERT_EQ("", on_threads(size, 256, mode, calls, all_direct_from(1)));
  }
  EXPECT_GT(failed, 50);
}

TEST_P(FailingCopies, BesideOtherLengths) {
  const auto [size, mode] = GetParam();
  std::atomic<int> failed{0}, told{0};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto calls = [&, seed](Team& team) -> std::string {
      draw(seed, team.rank());
      for (const What what : {What::gatherv, What::scatterv, What::alltoallv}) {
        bool truncated = false;
        const Call call{what, 3000, static_cast<int>(seed) % team.size(), false, false, seed};
        if (std::string wrong = run_with_other_lengths(team, call, truncated); !wrong.empty())
          return wrong;
        told += truncated ? 1 : 0;
      }
      failed += t_failed ? 1 : 0;
      return "";
    };
    ASSERT_EQ("", on_threads(size, 256, mode, calls, all_direct_from(1)));
  }
  EXPECT_GT(failed, 10);
  EXPECT_GT(told, 10);
}

TEST_P(FailingCopies, InTheMiddleOfMessages) {
  const auto [size, mode] = GetParam();
  std::atomic<int> failed{0};
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto body = [&, seed](auto& messenger, int rank) {
      draw(seed, rank);
      const std::string wrong =
          exchange_randomly(messenger, rank, std::get<0>(GetParam()), 12, 3000, seed);
      failed += t_failed ? 1 : 0;
      return wrong;
    };
    ASSERT_EQ("", message_threads({size, 256, mode, 300}, body));
  }
  EXPECT_GT(failed, 10);
}

INSTANTIATE_TEST_SUITE_P(, FailingCopies,
                         testing::Values(std::tuple{2, WaitMode::yield},
                                         std::tuple{2, WaitMode::sleep},
                                         std::tuple{3, WaitMode::yield},
                                         std::tuple{5, WaitMode::sleep}));

}  // namespace
}  // namespace unisono::node
