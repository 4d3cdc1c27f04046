// Rows that follow an order of messages, with orders that were made from other counts than the
// call's: remembered, stored, or wrong. No buffering, so that what may deadlock does.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "algorithms/catalogue.h"
#include "patterns/message_scheduling.h"
#include "schedule/checker.h"
#include "schedule/metrics.h"
#include "schedule/printer.h"
#include "schedule/problem.h"

namespace unisono {

namespace {

constexpr MessageRule kRules[] = {MessageRule::greedy, MessageRule::all_to_all_based,
                                  MessageRule::edge_colouring, MessageRule::token_list};

std::vector<const Algorithm*> rows() {
  std::vector<const Algorithm*> found;
  for (const Algorithm& row : catalogue())
    if ((row.restrictions & kOrder) != 0) found.push_back(&row);
  return found;
}

std::vector<Count> drawn(int size, double probability, bool symmetric, std::mt19937& random) {
  const auto p = static_cast<std::size_t>(size);
  std::vector<Count> counts(p * p);
  std::bernoulli_distribution sends(probability);
  std::uniform_int_distribution<Count> length(1, 9);
  for (std::size_t i = 0; i < p; ++i)
    for (std::size_t j = 0; j < p; ++j)
      counts[i * p + j] = symmetric && j < i ? counts[j * p + i] : sends(random) * length(random);
  return counts;
}

/// Each message by itself, in any order, in any phase.
MessageList shuffled(MessageList list, std::mt19937& random) {
  std::shuffle(list.messages.begin(), list.messages.end(), random);
  std::uniform_int_distribution<int> phase(0, 3);
  for (auto& m : list.messages) m.phase = phase(random);
  std::stable_sort(list.messages.begin(), list.messages.end(),
                   [](const auto& a, const auto& b) { return a.phase < b.phase; });
  list.phases = 5;  // of which the last is empty
  return list;
}

class Call {
 public:
  Call(const Algorithm& row, int size, std::vector<Count> counts, bool in_place)
      : row_(row), ranks_(problem(row, size, std::move(counts), in_place)), args_(ranks_.args()) {}
  /// With a window and a segment that leave much under way, or little.
  void take(Count window, Count segment) {
    for (Args& args : args_)
      args.params.window = window, args.params.segment = segment, args.params.threshold = 0;
  }
  void follow(const MessageList& list) {
    orders_ = orders_of(list);
    for (Args& args : args_) args.order = &orders_[static_cast<std::size_t>(args.rank)];
  }
  std::vector<MessageOrder>& orders() { return orders_; }
  std::vector<Schedule> schedules() const { return build_all(row_, args_); }
  std::optional<Violation> check() const { return unisono::check(args_, schedules()); }

 private:
  static Problem problem(const Algorithm& row, int size, std::vector<Count> counts, bool in_place) {
    Problem problem{.collective = Collective::alltoallv, .size = size, .count = 1};
    problem.counts = std::move(counts);
    problem.in_place = in_place;
    problem.share_counts = false;
    problem.params = default_params(row);
    return problem;
  }

  const Algorithm& row_;
  const ArgsOfRanks ranks_;
  std::vector<Args> args_;
  std::vector<MessageOrder> orders_;
};

TEST(Order, OfOtherCountsDoesWhatMpiDefines) {
  std::mt19937 random(1);
  for (const Algorithm* row : rows())
    for (const int p : {2, 3, 4, 5, 8, 13})
      for (const double before : {0.0, 0.3, 1.0})
        for (const double now : {0.0, 0.3, 1.0})
          for (const bool in_place : {false, true})
            for (const Count window : {1, 3}) {
              const CountMatrix matrix(drawn(p, before, false, random), p);
              for (const MessageRule rule : kRules) {
                const MessageList made = schedule_messages(rule, matrix, 4);
                for (const MessageList& list : {made, shuffled(made, random)}) {
                  Call call(*row, p, drawn(p, now, in_place, random), in_place);
                  call.take(window, window == 1 ? 1 : 4);
                  call.follow(list);
                  const auto violation = call.check();
                  ASSERT_FALSE(violation) << row->name << " p=" << p << " " << before << " to "
                                          << now << " order by " << name(rule) << "\n"
                                          << violation->text();
                }
              }
            }
}

// build_all() makes the list once for all ranks; each rank by itself makes the same.
TEST(Order, IsTheSameThatEachRankMakes) {
  std::mt19937 random(3);
  for (const Algorithm* row : rows()) {
    const int p = 7;
    Problem problem{.collective = Collective::alltoallv, .size = p, .count = 1};
    problem.counts = drawn(p, 0.6, false, random);
    problem.params = default_params(*row);
    problem.params.threshold = 4;
    const ArgsOfRanks ranks(problem);
    std::vector<Schedule> alone;
    for (const Args& args : ranks.args()) alone.push_back(build(*row, args));
    const auto violation = unisono::check(ranks.args(), alone);
    ASSERT_FALSE(violation) << violation->text();
    const auto together = build_all(*row, ranks.args());
    for (std::size_t r = 0; r < alone.size(); ++r)
      EXPECT_EQ(print_text(alone[r]), print_text(together[r])) << row->name;
  }
}

// What the proof rests on is that all ranks follow one list.
TEST(Order, ThatDiffersBetweenRanksIsFound) {
  const Algorithm& row = *find_algorithm(Collective::alltoallv, "token_list");
  std::mt19937 random(2);
  int found = 0;
  for (int i = 0; i < 20; ++i) {
    const int p = 4;
    Call call(row, p, drawn(p, 1, false, random), false);
    call.take(1, 0);
    call.follow(
        schedule_messages(MessageRule::token_list, CountMatrix(drawn(p, 1, false, random), p)));
    std::shuffle(call.orders()[1].steps.begin(), call.orders()[1].steps.end(), random);
    found += call.check() ? 1 : 0;
  }
  EXPECT_GT(found, 5);
}

// The order decides who waits for whom, not what is sent: no message of one that is empty, and no
// token for it.
TEST(Order, SendsNothingForWhatIsEmpty) {
  const int p = 6;
  const std::vector<Count> full(p * p, 3), none(p * p, 0);
  const MessageList list = schedule_messages(MessageRule::greedy, CountMatrix(full, p));
  for (const std::string_view algorithm :
       {"greedy", "greedy_light_barriers", "edge_colouring", "token_list"}) {
    Call call(*find_algorithm(Collective::alltoallv, algorithm), p, none, false);
    call.follow(list);
    for (const Schedule& schedule : call.schedules())
      for (const Op& op : schedule.ops()) EXPECT_FALSE(op.is_message()) << algorithm;
  }
}

TEST(Order, PhasesAreAsManyRounds) {
  const int p = 8;
  std::mt19937 random(4);
  const std::vector<Count> counts = drawn(p, 1, false, random);
  const CountMatrix matrix(counts, p);
  const MessageList list = schedule_messages(MessageRule::edge_colouring, matrix);
  const auto rounds = [&](std::string_view algorithm) {
    Call call(*find_algorithm(Collective::alltoallv, algorithm), p, counts, false);
    call.follow(list);
    return measure(call.schedules()).rounds;
  };
  EXPECT_EQ(rounds("edge_colouring"), p - 1);
  EXPECT_EQ(rounds("edge_colouring_barriers"), (p - 1) + (p - 2) * 3);
  EXPECT_EQ(rounds("edge_colouring_light_barriers"), 2 * (p - 1));
}

}  // namespace
}  // namespace unisono
