// Every rank gets the same bits from an Allreduce: the schedules run on numbers, with an operation
// that is neither associative nor commutative, so that two orders of summation give two results.
#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "algorithms/catalogue.h"
#include "schedule/problem.h"

namespace unisono {
namespace {

using Number = std::uint64_t;

Number combine(Number left, Number right) {
  constexpr Number kOdd = 0x9E3779B97F4A7C15U;
  return (left ^ (right * kOdd >> 7)) * kOdd + right;
}

/// All ranks in turn, each in program order as far as messages have arrived. Buffers messages.
class Interpreter {
 public:
  explicit Interpreter(const std::vector<Args>& args, const Algorithm& row) : ranks_(args.size()) {
    for (std::size_t r = 0; r < args.size(); ++r) {
      Rank& rank = ranks_[r];
      rank.schedule = build(row, args[r]);
      const auto count = static_cast<std::size_t>(args[r].count);
      std::vector<Number> input(count);
      for (std::size_t i = 0; i < count; ++i) input[i] = combine(r + 1, i);
      rank.buffers = {input, args[r].in_place ? input : std::vector<Number>(count)};
      for (const Count length : rank.schedule.scratch())
        rank.buffers.emplace_back(static_cast<std::size_t>(length));
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < ranks_.size(); ++r)
        while (step(static_cast<int>(r))) moved = true;
    }
  }

  const std::vector<Number>& output(std::size_t rank) const {
    return ranks_[rank].buffers[kOutput];
  }

 private:
  struct Rank {
    Schedule schedule;
    std::size_t next = 0;
    std::vector<std::vector<Number>> buffers;
  };

  bool step(int r) {
    Rank& rank = ranks_[static_cast<std::size_t>(r)];
    if (rank.next == rank.schedule.ops().size()) return false;
    const Op& op = rank.schedule.ops()[rank.next];
    const auto begin = [&](Slice slice) { return &rank.buffers[slice.buffer][0] + slice.offset; };
    Number* const own = op.kind == OpKind::join ? nullptr : begin(op.slice());
    if (op.kind == OpKind::send) {
      channels_[{r, op.peer}].emplace_back(own, own + op.length);
    } else if (op.kind == OpKind::recv) {
      auto& channel = channels_[{op.peer, r}];
      if (channel.empty()) return false;
      std::copy(channel.front().begin(), channel.front().end(), own);
      channel.pop_front();
    } else if (op.kind == OpKind::copy) {
      std::copy_n(begin(op.from()), op.length, own);
    } else if (op.kind == OpKind::reduce) {
      for (Count i = 0; i < op.length; ++i) own[i] = combine(begin(op.from())[i], own[i]);
    }
    ++rank.next;
    return true;
  }

  std::vector<Rank> ranks_;
  std::map<std::pair<int, int>, std::deque<std::vector<Number>>> channels_;
};

TEST(Allreduce, GivesAllRanksTheSameBits) {
  for (const Algorithm& row : catalogue()) {
    if (!contains(row.collectives, Collective::allreduce)) continue;
    for (const int p : {2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 31, 33})
      for (const bool in_place : {false, true}) {
        const Problem problem{.collective = Collective::allreduce,
                              .size = p,
                              .count = 2 * p + 5,
                              .in_place = in_place,
                              .params = standard_params(row)};
        const Ranks ranks(problem);
        if (unmet_restriction(row, ranks[0])) continue;
        const Interpreter run(ranks.args(), row);
        for (int r = 1; r < p; ++r)
          ASSERT_EQ(run.output(static_cast<std::size_t>(r)), run.output(0))
              << row.name << " p=" << p << " in_place=" << in_place << " rank " << r;
      }
  }
}

}  // namespace
}  // namespace unisono
