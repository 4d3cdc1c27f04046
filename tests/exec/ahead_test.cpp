#include "exec/ahead.h"

#include <gtest/gtest.h>

namespace unisono {
namespace {

constexpr Count kSegment = 4096;
constexpr int kWindow = 8, kPeer = 1;

/// Bytes that a call sends whose receiver answers nothing: message k waits for message k - kWindow,
/// so that there are kWindow lanes, each of which stops behind a hold.
Count sent_to_a_late_one(Ahead& ahead) {
  Count bytes = 0;
  bool stopped[kWindow] = {};
  for (int message = 0; message < 100'000; ++message) {
    bool& lane = stopped[message % kWindow];
    if (lane) continue;
    bytes += kSegment;
    lane = ahead.next(kPeer, kSegment) == Ahead::Kind::hold;
  }
  return bytes;
}

TEST(Ahead, ALongCallIsTwiceTheBoundAheadAndAWindow) {
  Ahead ahead(2);
  EXPECT_LE(sent_to_a_late_one(ahead), 2 * Ahead::kMostAhead + (kWindow + 1) * kSegment);
}

TEST(Ahead, AsksOnceInSoManyBytesOfWhoAnswers) {
  Ahead ahead(2);
  int questions = 0, messages = 0;
  for (; questions < 10 && messages < 100'000; ++messages)
    if (const auto kind = ahead.next(kPeer, kSegment); kind != Ahead::Kind::plain) {
      EXPECT_EQ(kind, Ahead::Kind::question);
      ahead.answered(kPeer);
      ++questions;
    }
  EXPECT_NEAR(messages, 10 * Ahead::kMostAhead / kSegment, 20);
}

TEST(Ahead, HoldsUntilAllAreAnswered) {
  Ahead ahead(2);
  while (ahead.next(kPeer, kSegment) == Ahead::Kind::plain) {
  }
  while (ahead.next(kPeer, kSegment) == Ahead::Kind::plain) {
  }
  EXPECT_EQ(ahead.next(kPeer, kSegment), Ahead::Kind::hold);  // the second
  ahead.answered(kPeer);
  EXPECT_EQ(ahead.next(kPeer, kSegment), Ahead::Kind::hold) << "two are left";
  for (int left = 0; left < 3; ++left) ahead.answered(kPeer);
  EXPECT_EQ(ahead.next(kPeer, kSegment), Ahead::Kind::question);
}

// Each message counts a little, so that tokens are bounded, too.
TEST(Ahead, CountsTokens) {
  Ahead ahead(2);
  int tokens = 0;
  while (ahead.next(kPeer, 0) == Ahead::Kind::plain) ++tokens;
  EXPECT_EQ(tokens, Ahead::kMostAhead / Ahead::kLeast);
}

}  // namespace
}  // namespace unisono
