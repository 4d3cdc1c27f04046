// Every rank gets the same bits from an Allreduce: the schedules run on numbers, with an operation
// that is neither associative nor commutative, so that two orders of summation give two results.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "algorithms/catalogue.h"
#include "patterns/arrival.h"
#include "schedule/problem.h"
#include "topology/topology.h"

namespace unisono {
namespace {

using Number = std::uint64_t;

Number combine(Number left, Number right) {
  constexpr Number kOdd = 0x9E3779B97F4A7C15U;
  return (left ^ (right * kOdd >> 7)) * kOdd + right;
}

/// All ranks in turn, each the first op that can run: its dependencies are complete, its message
/// has arrived. Buffers messages.
class Interpreter {
 public:
  explicit Interpreter(const std::vector<Args>& args, const Algorithm& row) : ranks_(args.size()) {
    for (std::size_t r = 0; r < args.size(); ++r) {
      Rank& rank = ranks_[r];
      rank.schedule = build(row, args[r]);
      rank.done.resize(rank.schedule.ops().size());
      const auto count = static_cast<std::size_t>(args[r].count);
      std::vector<Number> input(count);
      for (std::size_t i = 0; i < count; ++i) input[i] = combine(r + 1, i);
      rank.buffers = {input, args[r].in_place ? input : std::vector<Number>(count), {}};
      for (const Count length : rank.schedule.scratch())
        rank.buffers.emplace_back(static_cast<std::size_t>(length));
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < ranks_.size(); ++r)
        while (step(static_cast<int>(r))) moved = true;
    }
  }

  bool complete() const {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) {
      return std::find(rank.done.begin(), rank.done.end(), false) == rank.done.end();
    });
  }
  const std::vector<Number>& output(std::size_t rank) const {
    return ranks_[rank].buffers[kOutput];
  }

 private:
  struct Rank {
    Schedule schedule;
    std::vector<bool> done;
    std::vector<std::vector<Number>> buffers;
  };
  using Message = std::tuple<int, int, Count>;  // from, to, position

  bool step(int r) {
    Rank& rank = ranks_[static_cast<std::size_t>(r)];
    for (OpId id = 0; id < rank.done.size(); ++id) {
      const auto waits_for = rank.schedule.dependencies(id);
      const Op& op = rank.schedule.ops()[id];
      if (rank.done[id] ||
          std::any_of(waits_for.begin(), waits_for.end(), [&](OpId d) { return !rank.done[d]; }) ||
          (op.kind == OpKind::recv && !messages_.contains({op.peer, r, op.position()})))
        continue;
      run(r, op);
      rank.done[id] = true;
      return true;
    }
    return false;
  }

  void run(int r, const Op& op) {
    auto& buffers = ranks_[static_cast<std::size_t>(r)].buffers;
    const auto begin = [&](Slice slice) { return &buffers[slice.buffer][0] + slice.offset; };
    Number* const own = op.kind == OpKind::join ? nullptr : begin(op.slice());
    if (op.kind == OpKind::send) {
      messages_[{r, op.peer, op.position()}] = {own, own + op.length};
    } else if (op.kind == OpKind::recv) {
      const auto& message = messages_[{op.peer, r, op.position()}];
      std::copy(message.begin(), message.end(), own);
    } else if (op.kind == OpKind::copy) {
      std::copy_n(begin(op.from()), op.length, own);
    } else if (op.kind == OpKind::reduce) {
      for (Count i = 0; i < op.length; ++i) own[i] = combine(begin(op.from())[i], own[i]);
    }
  }

  std::vector<Rank> ranks_;
  std::map<Message, std::vector<Number>> messages_;
};

/// Nothing, or where the ranks are on a torus.
std::vector<std::unique_ptr<const Topology>> placements(int p) {
  std::vector<std::unique_ptr<const Topology>> result(1);
  for (const int width : {2, 3, 4, 8}) {
    if (p % width != 0 || p == width) continue;
    TopologyLabels labels;
    labels.torus = {
        std::make_shared<const Torus>(std::vector{width, p / width}), Routing::minimal, {}};
    for (int rank = 0; rank < p; ++rank) labels.torus.of_rank.push_back(p - 1 - rank);
    result.push_back(std::make_unique<const Topology>(p, labels));
  }
  return result;
}

TEST(Allreduce, GivesAllRanksTheSameBits) {
  for (const Algorithm& row : catalogue()) {
    if (!contains(row.collectives, Collective::allreduce)) continue;
    for (const int p : {2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 16, 27, 31, 33})
      for (const bool in_place : {false, true})
        for (const auto& topology : placements(p)) {
          Problem problem{.collective = Collective::allreduce,
                          .size = p,
                          .count = 2 * p + 5,
                          .in_place = in_place,
                          .params = default_params(row),
                          .topology = topology.get()};
          if ((row.restrictions & kPredicts) != 0) problem.params.late = intern({p / 2, 0});
          const ArgsOfRanks ranks(problem);
          if (unmet_restriction(row, ranks[0])) continue;
          const Interpreter run(ranks.args(), row);
          ASSERT_TRUE(run.complete()) << row.name << " p=" << p;
          for (int r = 1; r < p; ++r)
            ASSERT_EQ(run.output(static_cast<std::size_t>(r)), run.output(0))
                << row.name << " p=" << p << " in_place=" << in_place << " rank " << r;
        }
  }
}

}  // namespace
}  // namespace unisono
