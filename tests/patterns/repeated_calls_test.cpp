#include "patterns/repeated_calls.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "patterns/message_scheduling.h"

namespace unisono {

namespace {

using News = RepeatedCalls::News;

constexpr int kRanks = 12;

/// What two ranks see of the same calls.
class Calls {
 public:
  /// Whether the call exchanged its counts; both ranks must do the same.
  bool operator()(const CountMatrix& matrix) {
    const auto a = a_.decide(a_.enter()), b = b_.decide(b_.enter());
    EXPECT_TRUE(a && b);
    if (!a || !b) return false;
    EXPECT_EQ(a->order == nullptr, b->order == nullptr);
    news = News::nothing;
    if (a->order != nullptr) {
      order = *a->order;
      return false;
    }
    const auto learned = a_.learn(matrix);
    const auto other = b_.learn(matrix);
    EXPECT_EQ(learned.news, other.news);
    news = learned.news;
    period = learned.period;
    order = *learned.order;
    return true;
  }
  /// How many calls exchange counts before one does not.
  int until_planned(const std::function<CountMatrix(int)>& nth, int most = 100) {
    int calls = 0;
    while (calls < most && (*this)(nth(calls))) ++calls;
    return calls;
  }

  News news = News::nothing;
  int period = 0;
  MessageOrder order;  // rank 0's

 private:
  static MessageList rule(const CountMatrix& matrix) {
    return schedule_messages(MessageRule::token_list, matrix);
  }
  RepeatedCalls a_{0, rule}, b_{3, rule};
};

/// `about` 0: lengths are anything; else within so many parts of 1000 of those of `seed` alone.
CountMatrix drawn(unsigned seed, int variation = 0, Count about = 0) {
  std::mt19937 random(seed), varied(static_cast<unsigned>(variation));
  std::uniform_real_distribution<double> digits(0, 5);
  std::uniform_int_distribution<Count> by(-about, about);
  std::vector<Count> dense;
  for (int i = 0; i < kRanks * kRanks; ++i) {
    const auto one = static_cast<Count>(std::pow(10.0, digits(random)));
    dense.push_back(one + one * by(varied) / 1000);
  }
  return {dense, kRanks};
}

MessageOrder best(const CountMatrix& matrix) {
  return order_of(schedule_messages(MessageRule::token_list, matrix), 0);
}

TEST(RepeatedCalls, TheSameCountsTwiceBecomeAPlan) {
  Calls calls;
  EXPECT_TRUE(calls(drawn(1)));
  EXPECT_EQ(calls.news, News::nothing);
  EXPECT_TRUE(calls(drawn(1)));
  EXPECT_EQ(calls.news, News::planned);
  EXPECT_EQ(calls.period, 1);
  for (int i = 0; i < RepeatedCalls::kCheckEvery - 1; ++i) {
    EXPECT_FALSE(calls(drawn(1))) << i;
    EXPECT_TRUE(calls.order.steps == best(drawn(1)).steps);
  }
  EXPECT_TRUE(calls(drawn(1))) << "every 64th looks";
  EXPECT_EQ(calls.news, News::nothing);
  EXPECT_FALSE(calls(drawn(1)));
}

TEST(RepeatedCalls, CyclesOfUpToEight) {
  for (int period = 1; period <= 9; ++period) {
    Calls calls;
    const auto nth = [&](int i) { return drawn(static_cast<unsigned>(i % period) * 7 + 1); };
    const int needed = calls.until_planned(nth);
    if (period > RepeatedCalls::kLongestPeriod) {
      EXPECT_EQ(needed, 100);
      continue;
    }
    EXPECT_EQ(needed, 2 * period);
    for (int i = needed + 1; i < 60; ++i) {
      EXPECT_FALSE(calls(nth(i)));
      ASSERT_TRUE(calls.order.steps == best(nth(i)).steps) << "not the order of its place";
    }
  }
}

// Integer sort: other counts in each call, but about the same.
TEST(RepeatedCalls, CountsThatVaryALittleAreAlike) {
  Calls calls;
  EXPECT_EQ(calls.until_planned([](int i) { return drawn(5, i, 10); }), 4);
  int exchanged = 0;
  for (int i = 0; i < 1000; ++i) exchanged += calls(drawn(5, i + 10, 10)) ? 1 : 0;
  EXPECT_EQ(exchanged, 1000 / RepeatedCalls::kCheckEvery);
}

TEST(RepeatedCalls, CountsOfNoPatternAreExchangedInEveryCall) {
  Calls calls;
  EXPECT_EQ(calls.until_planned([](int i) { return drawn(static_cast<unsigned>(i)); }), 100);
}

TEST(RepeatedCalls, AChangeIsSeenAtTheNextCheck) {
  Calls calls;
  calls.until_planned([](int) { return drawn(1); });
  int planned = 1;
  while (!calls(drawn(2))) ++planned;
  EXPECT_EQ(planned, RepeatedCalls::kCheckEvery - 1);
  EXPECT_EQ(calls.news, News::dropped);
  EXPECT_TRUE(calls.order.steps == best(drawn(2)).steps);
  EXPECT_TRUE(calls(drawn(2)));
  EXPECT_EQ(calls.news, News::planned);
  EXPECT_FALSE(calls(drawn(2)));
}

// 64 calls later a cycle of an even length would be looked at in the same place again.
TEST(RepeatedCalls, EveryPlaceOfACycleIsLookedAt) {
  for (const int period : {2, 4, 8})
    for (int changed = 0; changed < period; ++changed) {
      Calls calls;
      const auto seed = [&](int i) { return static_cast<unsigned>(i % period) * 7 + 1; };
      int i = calls.until_planned([&](int n) { return drawn(seed(n)); }) + 1;
      bool is_dropped = false;
      for (const int end = i + 70 * period; i < end && !is_dropped; ++i) {
        calls(drawn(i % period == changed ? 1000 : seed(i)));
        is_dropped = calls.news == News::dropped;
      }
      EXPECT_TRUE(is_dropped) << changed << " of " << period;
    }
}

TEST(RepeatedCalls, NothingIsAlikeToNothingOnly) {
  Calls calls;
  const CountMatrix none(std::vector<Count>(kRanks * kRanks), kRanks);
  EXPECT_EQ(calls.until_planned([&](int) { return none; }), 2);
  EXPECT_TRUE(calls.order.steps.empty());
  EXPECT_FALSE(calls(drawn(1)));
}

// In flight: whose counts have not come does not know whether a later call will exchange.
TEST(RepeatedCalls, ACallWaitsForTheCountsOfEarlierOnes) {
  const auto rule = [](const CountMatrix& matrix) {
    return schedule_messages(MessageRule::greedy, matrix);
  };
  RepeatedCalls calls(0, rule);
  const auto first = calls.enter(), second = calls.enter(), third = calls.enter();
  EXPECT_FALSE(calls.decide(second));
  ASSERT_TRUE(calls.decide(first));
  EXPECT_FALSE(calls.decide(second)) << "under way, but not there";
  calls.learn(drawn(1));
  ASSERT_TRUE(calls.decide(second));
  EXPECT_FALSE(calls.decide(third));
  calls.learn(drawn(1));
  ASSERT_TRUE(calls.decide(third));
  EXPECT_NE(calls.decide(calls.enter())->order, nullptr);
}

TEST(RepeatedCalls, AfterAFailureNobodyWaits) {
  RepeatedCalls calls(
      0, [](const CountMatrix& matrix) { return schedule_messages(MessageRule::greedy, matrix); });
  const auto before = calls.enter(), failing = calls.enter(), next = calls.enter();
  EXPECT_TRUE(calls.decide(before));
  calls.give_up(failing);
  EXPECT_FALSE(calls.decide(next)) << "another rank may not know of the failure yet";
  calls.learn(drawn(1));
  calls.give_up(before);  // which has gone through
  for (int i = 0; i < 4; ++i) {
    const auto decision = calls.decide(i == 0 ? next : calls.enter());
    ASSERT_TRUE(decision);
    EXPECT_EQ(decision->order, nullptr);
    EXPECT_NE(calls.learn(drawn(1)).order, nullptr);
  }
}

}  // namespace
}  // namespace unisono
