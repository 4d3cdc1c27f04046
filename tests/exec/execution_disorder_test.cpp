// The executor over a made-up network: whatever the order in which messages come and ranks are
// moved, the result is the same; and an error leaves nothing behind that writes.
#include <gtest/gtest.h>

#include <algorithm>

#include <deque>
#include <string>
#include <vector>

#include "algorithms/catalogue.h"
#include "algorithms/composition.h"
#include "exec/execution.h"
#include "exec/kernel_reduction.h"
#include "schedule/problem.h"
#include "tests/exec/made_up_multicast.h"
#include "tests/exec/made_up_network.h"

namespace unisono {
namespace {

using Elements = std::vector<long>;

/// All ranks of one collective.
class Ranks {
 public:
  Ranks(MadeUpNetwork& network, const Algorithm& row, const Problem& problem)
      : network_(network), all_(problem), executions_(static_cast<std::size_t>(problem.size)) {
    at_error_.resize(executions_.size());
    // Irregular collectives have blocks of up to twice the count, or one more.
    const auto elements = static_cast<std::size_t>(
        (2 * problem.count + 1) * std::max(problem.size, 8));  // blocks of a stencil
    for (int rank = 0; rank < problem.size; ++rank) {
      Schedule schedule = build(row, all_[rank]);
      if (!schedule.group_calls().empty()) schedule = expand(schedule, all_[rank]);
      plans_.emplace_back(std::move(schedule));
      transports_.emplace_back(network, rank, sizeof(long));
      multicasts_.emplace_back(network, groups_, plans_.back().schedule(), rank, sizeof(long));
      Elements& input = inputs_.emplace_back(elements);
      for (std::size_t i = 0; i < elements; ++i) input[i] = static_cast<long>(i * i) + 1000L * rank;
      outputs_.push_back(input);
    }
  }

  /// An error code for each rank. Ranks that have failed are moved no more; the others not for
  /// ever.
  std::vector<int> run() {
    const std::size_t p = executions_.size();
    std::vector<int> codes(p, MPI_SUCCESS);
    std::vector<std::size_t> not_begun(p), live;
    for (std::size_t r = 0; r < p; ++r) not_begun[r] = r;
    for (long idle = 0; (!not_begun.empty() || !live.empty()) && idle < 4000; ++idle) {
      if (!not_begun.empty() && network_.chance(30)) {
        const auto at = not_begun.begin() + network_.pick(not_begun.size());
        note(codes[*at] = start(*at), *at);
        live.push_back(*at);
        not_begun.erase(at);
      } else if (!live.empty()) {
        const std::size_t r = live[network_.pick(live.size())];
        note(codes[r] = executions_[r].progress(), r);
        if (executions_[r].moved()) idle = 0;
      }
      std::erase_if(live, [this](std::size_t r) { return executions_[r].done(); });
    }
    return codes;
  }

  /// The output when the rank's error came.
  const Elements& at_error(std::size_t rank) const { return at_error_[rank]; }
  bool done(std::size_t rank) const { return executions_[rank].done(); }
  std::vector<Elements>& outputs() { return outputs_; }

 private:
  void note(int code, std::size_t rank) {
    if (code != MPI_SUCCESS) at_error_[rank] = outputs_[rank];
  }
  int start(std::size_t r) {
    Binding binding;
    binding.input = reinterpret_cast<std::byte*>(inputs_[r].data());
    binding.output = reinterpret_cast<std::byte*>(outputs_[r].data());
    binding.type = MPI_LONG;
    binding.unit = facts_of(MPI_LONG);
    binding.op = MPI_SUM;
    if (network_.chance(70))
      binding.built_in = built_in_reduction(binding.op, binding.type, binding.unit);
    binding.rank = static_cast<int>(r);
    binding.transport = &transports_[r];
    binding.multicast = &multicasts_[r];
    return executions_[r].start(plans_[r], binding);
  }

  MadeUpNetwork& network_;
  ArgsOfRanks all_;
  std::deque<Plan> plans_;
  std::deque<MadeUpTransport> transports_;
  MadeUpGroups groups_;
  std::deque<MadeUpMulticast> multicasts_;
  std::vector<Elements> inputs_, outputs_, at_error_;
  std::vector<Execution> executions_;
};

int processes() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Every one once: the processes of this test, which need no other for it, share them.
template <class Function>
void for_each_problem(std::initializer_list<int> sizes, std::initializer_list<Count> counts,
                      Function function) {
  int process = 0, problems = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  for (const Algorithm& row : catalogue())
    for (int c = 0; c < kCollectives; ++c) {
      const auto collective = static_cast<Collective>(c);
      if (!contains(row.collectives, collective)) continue;
      for (const int size : sizes)
        for (const Count count : counts) {
          const Problem problem{.collective = collective,
                                .size = size,
                                .root = size / 2,
                                .count = count,
                                .unit_bytes = sizeof(long),
                                .params = default_params(row)};
          const ArgsOfRanks ranks(problem);
          if (unmet_restriction(row, ranks[0])) continue;
          if (problems++ % processes() != process) continue;
          SCOPED_TRACE(std::string(name(collective)) + " " + std::string(row.name) + ", " +
                       std::to_string(size) + " ranks, " + std::to_string(count));
          function(row, problem);
        }
    }
}

const std::vector<int> kAllWell(32, MPI_SUCCESS);

TEST(Disorder, NeverChangesAResult) {
  int problems = 0, reduced = 0;
  for_each_problem({2, 3, 6, 8}, {0, 1, 37}, [&](const Algorithm& row, const Problem& problem) {
    MadeUpNetwork orderly(MadeUpNetwork::Order::as_sent, 1);
    Ranks expected(orderly, row, problem);
    const auto well = std::vector<int>(kAllWell.begin(), kAllWell.begin() + problem.size);
    ASSERT_EQ(expected.run(), well);
    for (unsigned seed = 1; seed <= 3; ++seed) {
      MadeUpNetwork disorderly(MadeUpNetwork::Order::shuffled, seed);
      Ranks ranks(disorderly, row, problem);
      ASSERT_EQ(ranks.run(), well);
      for (int r = 0; r < problem.size; ++r) ASSERT_TRUE(ranks.done(static_cast<std::size_t>(r)));
      // The algorithms of arrival may place what they receive elsewhere, never another result.
      ASSERT_EQ(ranks.outputs(), expected.outputs()) << "seed " << seed;
      reduced += disorderly.reduced();
    }
    ++problems;
  });
  EXPECT_GT(problems, 500 / processes());
  EXPECT_GT(reduced, 1000 / processes());
}

TEST(Disorder, SumsAreRight) {
  const Algorithm& ring = *find_algorithm(Collective::allreduce, "ring");
  const Problem problem{.collective = Collective::allreduce,
                        .size = 5,
                        .count = 11,
                        .unit_bytes = sizeof(long),
                        .params = default_params(ring)};
  MadeUpNetwork network(MadeUpNetwork::Order::shuffled, 7);
  Ranks ranks(network, ring, problem);
  ranks.run();
  for (const Elements& output : ranks.outputs())
    for (std::size_t i = 0; i < 11; ++i)
      EXPECT_EQ(output[i], 5 * static_cast<long>(i * i) + 1000L * (0 + 1 + 2 + 3 + 4));
}

// The rank whose message fails is done, has the error, and nothing is written into its buffers any
// more, whatever the others send.
TEST(Disorder, AnErrorEndsTheExecutionAndItsReceives) {
  for (const bool no_memory : {false, true})
    for_each_problem({3, 4}, {37}, [&](const Algorithm& row, const Problem& problem) {
      for (const int when : {1, 2, 5}) {
        MadeUpNetwork network(MadeUpNetwork::Order::shuffled, static_cast<unsigned>(when));
        network.fail_in(when, no_memory);
        Ranks ranks(network, row, problem);
        const std::vector<int> codes = ranks.run();
        if (!network.has_failed()) continue;  // so few messages
        for (std::size_t r = 0; r < codes.size(); ++r)
          if (codes[r] != MPI_SUCCESS) {
            EXPECT_TRUE(ranks.done(r));
            EXPECT_TRUE(codes[r] == MPI_ERR_OTHER || (no_memory && codes[r] == MPI_ERR_NO_MEM));
            EXPECT_EQ(ranks.outputs()[r], ranks.at_error(r));
          }
        EXPECT_NE(codes, std::vector<int>(codes.size(), MPI_SUCCESS));
      }
    });
}

}  // namespace
}  // namespace unisono
