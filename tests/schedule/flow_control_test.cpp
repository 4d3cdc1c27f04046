// Fewer sends under way: the schedule stays right on all ranks, and no channel holds more.
#include "schedule/flow_control.h"

#include <gtest/gtest.h>

#include <map>
#include <queue>

#include "algorithms/catalogue.h"
#include "schedule/checker.h"
#include "schedule/problem.h"
#include "schedule/resolve.h"

namespace unisono {
namespace {

/// Whether `late` waits for `early`, directly or through others.
bool waits_for(const Schedule& schedule, OpId late, OpId early) {
  std::vector<bool> seen(schedule.ops().size());
  std::queue<OpId> open;
  for (open.push(late); !open.empty(); open.pop())
    for (const OpId d : schedule.dependencies(open.front())) {
      if (d == early) return true;
      if (d > early && !seen[d]) {
        seen[d] = true;
        open.push(d);
      }
    }
  return false;
}

/// Sends of a channel that may be under way together: send k does not wait for send k - n.
bool more_may_be_under_way(const Schedule& schedule, std::size_t n) {
  std::map<int, std::vector<OpId>> channels;
  for (OpId id = 0; id < schedule.ops().size(); ++id) {
    if (schedule.ops()[id].kind != OpKind::send) continue;
    std::vector<OpId>& sent = channels[schedule.ops()[id].peer];
    if (sent.size() >= n && !waits_for(schedule, id, sent[sent.size() - n])) return true;
    sent.push_back(id);
  }
  return false;
}

std::vector<Schedule> schedules(const Algorithm& row, const ArgsOfRanks& ranks) {
  std::vector<Schedule> all;
  for (const Args& args : ranks.args()) all.push_back(expand(build(row, args), args));
  return all;
}

Problem problem_of(const Algorithm& row, Collective collective, int size) {
  Problem problem;
  problem.collective = collective;
  problem.size = size;
  problem.count = 40;
  problem.params = default_params(row);
  if (problem.params.segment > 0) problem.params.segment = 3;
  return problem;
}

TEST(FlowControl, EveryAlgorithmStaysRightWithTwoSendsOnAChannel) {
  int limited = 0;
  for (const Algorithm& row : catalogue())
    for (int c = 0; c < kCollectives; ++c)
      for (const int size : {2, 5, 8, 16}) {
        const auto collective = static_cast<Collective>(c);
        if (!contains(row.collectives, collective)) continue;
        const ArgsOfRanks ranks(problem_of(row, collective, size));
        if (unmet_restriction(row, ranks[0])) continue;
        std::vector<Schedule> all = schedules(row, ranks);
        for (Schedule& schedule : all) {
          limited += more_may_be_under_way(schedule, 2) ? 1 : 0;
          schedule = limit_sends(std::move(schedule), 2);
          EXPECT_FALSE(more_may_be_under_way(schedule, 2)) << row.name;
        }
        const auto violation =
            check(ranks.args(), resolve(std::move(all), all_waiting(size, ranks[0].root)));
        EXPECT_FALSE(violation) << name(collective) << " " << row.name << " on " << size << ": "
                                << violation->text();
      }
  EXPECT_GT(limited, 0) << "no schedule had anything to limit: this test proves nothing";
}

TEST(FlowControl, AtLeastTheBuildersOwnWindowChangesNothing) {
  const Algorithm& chain = *find_algorithm(Collective::bcast, "chain");
  const ArgsOfRanks ranks(problem_of(chain, Collective::bcast, 3));
  const Schedule before = build(chain, ranks[0]);
  for (const Count sends : {Count{8}, kChannelDepth}) {
    const Schedule after = limit_sends(before, sends);
    ASSERT_EQ(after.ops().size(), before.ops().size());
    for (OpId id = 0; id < before.ops().size(); ++id)
      EXPECT_TRUE(std::ranges::equal(after.dependencies(id), before.dependencies(id))) << id;
  }
}

}  // namespace
}  // namespace unisono
