// The executor's other transport: the memory of the node. The plans get no communicator, so that no
// message can go through the MPI library unseen.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <initializer_list>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "algorithms/catalogue.h"
#include "algorithms/composition.h"
#include "comm/node_memory.h"
#include "exec/execution.h"
#include "exec/kernel_reduction.h"
#include "exec/mpi_transport.h"
#include "exec/shm_transport.h"
#include "schedule/problem.h"
#include "tests/exec/finish.h"

namespace unisono {
namespace {

/// Counts the messages that were reduced as they came.
class CountingTransport : public Transport {
 public:
  ShmTransport shm;
  int reduced = 0;

  int start(const Message& message, std::vector<OpId>& completed, Started& started) override {
    const int rc = shm.start(message, completed, started);
    reduced += started.reduces;
    return rc;
  }
  int progress(std::vector<OpId>& completed, bool only_looks, bool& moved) override {
    return shm.progress(completed, only_looks, moved);
  }
  bool abandon(std::vector<OpId>& completed) override { return shm.abandon(completed); }
};

/// Elements of a vector of which whole blocks are copied directly too, and of which no rank fills
/// megabytes for each of a thousand calls.
constexpr Count kLong = 5'000;
constexpr std::size_t kDirectFrom = 8 << 10;

struct InNodeMemory : ::testing::TestWithParam<WaitMode> {
  int rank = 0, size = 1;
  MPI_Comm comm = MPI_COMM_NULL;
  std::unique_ptr<NodeMessages> messages;

  void SetUp() override {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    start_node_memory(comm, {.mode = GetParam()});
    ASSERT_TRUE(has_node_memory());
    ASSERT_EQ(node_wait(), GetParam());
    messages = make_messages(comm);
    ASSERT_NE(messages, nullptr);
    messages->copy_directly_from(kDirectFrom);
  }
  void TearDown() override {
    messages.reset();
    stop_node_memory();
    MPI_Comm_free(&comm);
  }

  using Elements = std::vector<long>;
  /// Of a call, where a rank's input lies and its output is to be.
  struct Buffers {
    Elements input, output;
    Binding binding(MPI_Op op, MPI_Datatype type = MPI_LONG) {
      Binding b;
      b.input = reinterpret_cast<std::byte*>(input.data());
      b.output = reinterpret_cast<std::byte*>(output.data());
      b.type = type;
      b.unit = facts_of(type);
      b.op = op;
      b.built_in = built_in_reduction(op, type, b.unit);
      return b;
    }
  };
  Buffers buffers(Count elements) const {
    Buffers made{Elements(static_cast<std::size_t>(elements)), {}};
    for (std::size_t i = 0; i < made.input.size(); ++i)
      made.input[i] = static_cast<long>(i * i) + 1000L * rank;
    made.output = made.input;  // of bcast's root
    return made;
  }

  /// Over the MPI library, and through the memory: the results must be the same.
  void run_both_ways(const Algorithm& row, const Problem& problem, const Buffers& given,
                     MPI_Datatype type, MPI_Op op) {
    const ArgsOfRanks ranks(problem);
    const Args& args = ranks[rank];
    if (unmet_restriction(row, args)) return;
    const Plan plan(expand(build(row, args), args));
    Buffers over_library = given, in_memory = given;
    Execution execution;
    Binding binding = over_library.binding(op, type);
    MpiTransport library;
    library.open({comm, 0, binding.type, binding.unit.extent});
    binding.transport = &library;
    binding.rank = rank;
    ASSERT_EQ(execution.start(plan, binding), MPI_SUCCESS);
    ASSERT_EQ(finish(execution, WaitMode::yield), MPI_SUCCESS);
    binding = in_memory.binding(op, type);
    binding.rank = rank;
    ShmTransport shm;
    shm.open({&messages->messenger(), 0, binding.unit.size, binding.unit.true_lb});
    binding.transport = &shm;
    ASSERT_EQ(execution.start(plan, binding), MPI_SUCCESS);
    ASSERT_EQ(finish(execution, GetParam()), MPI_SUCCESS);
    EXPECT_EQ(in_memory.output, over_library.output);
  }

  /// function(row, problem) of everything in the catalogue.
  template <class Function>
  void for_each_problem(std::initializer_list<Count> counts, Function function) const {
    for (const Algorithm& row : catalogue())
      for (int c = 0; c < kCollectives; ++c) {
        const auto collective = static_cast<Collective>(c);
        if (!contains(row.collectives, collective)) continue;
        for (const Count count : counts) {
          SCOPED_TRACE(std::string(name(collective)) + " " + std::string(row.name) + " " +
                       std::to_string(count));
          function(row, Problem{.collective = collective,
                                .size = size,
                                .root = size - 1,
                                .count = count,
                                .unit_bytes = sizeof(long),
                                .params = default_params(row)});
        }
      }
  }
  /// Irregular collectives have blocks of up to twice the count, or one more (block_length).
  Count elements_of(const Problem& problem) const {
    return (2 * problem.count + 1) * std::max(size, 8);
  }
};

TEST_P(InNodeMemory, RunsTheWholeCatalogue) {
  for_each_problem({0, 1, 300, kLong}, [this](const Algorithm& row, const Problem& problem) {
    run_both_ways(row, problem, buffers(elements_of(problem)), MPI_LONG, MPI_SUM);
  });
}

// Of zeros of both signs, and of what is no number, neither is the smaller one: the result is the
// same on all ranks only if the operands stand alike, whether a message is reduced as it comes or
// later.
TEST_P(InNodeMemory, OperandsStandAlikeWhicheverWay) {
  static_assert(sizeof(double) == sizeof(long));
  const double some[] = {0.0, -0.0, std::numeric_limits<double>::quiet_NaN(), 1.0};
  for_each_problem({1, 300, kLong}, [&](const Algorithm& row, const Problem& problem) {
    if (!is_reducing(problem.collective)) return;
    Buffers given = buffers(elements_of(problem));
    for (std::size_t i = 0; i < given.input.size(); ++i)
      given.input[i] = std::bit_cast<long>(some[(i / 4 + i * static_cast<std::size_t>(rank)) % 4]);
    for (const MPI_Op op : {MPI_MIN, MPI_MAX}) run_both_ways(row, problem, given, MPI_DOUBLE, op);
  });
}

// Not the MPI library's operation, nor what comes before it may be reduced.
TEST_P(InNodeMemory, ReducesSegmentsAsTheyCome) {
  constexpr Count kSegments = 10, kElements = 500;
  const Algorithm& chain = *find_algorithm(Collective::reduce, "chain");
  Problem problem{.collective = Collective::reduce,
                  .size = size,
                  .count = kSegments * kElements,
                  .unit_bytes = sizeof(long),
                  .params = default_params(chain)};
  problem.params.segment = kElements * sizeof(long);
  const ArgsOfRanks ranks(problem);
  const Plan plan(build(chain, ranks[rank]));
  for (const bool built_in : {false, true}) {
    Buffers own = buffers(problem.count);
    Binding binding = own.binding(MPI_SUM);
    binding.rank = rank;
    if (!built_in) binding.built_in.reset();
    CountingTransport counting;
    counting.shm.open({&messages->messenger(), 0, binding.unit.size, binding.unit.true_lb});
    binding.transport = &counting;
    Execution execution;
    ASSERT_EQ(execution.start(plan, binding), MPI_SUCCESS);
    ASSERT_EQ(finish(execution, GetParam()), MPI_SUCCESS);
    EXPECT_EQ(counting.reduced, built_in && rank < size - 1 ? kSegments : 0);
    if (rank != 0) continue;
    for (std::size_t i = 0; i < own.output.size(); ++i)
      ASSERT_EQ(own.output[i], size * static_cast<long>(i * i) + 500L * size * (size - 1));
  }
}

TEST_P(InNodeMemory, ExecutionsInFlightTogetherDoNotMix) {
  Problem problem{.collective = Collective::bcast, .size = size, .count = 50'000};
  problem.params.segment = 1024;
  const ArgsOfRanks ranks(problem);
  const Plan plan(build(*find_algorithm(Collective::bcast, "chain"), ranks[rank]));
  constexpr std::size_t kTogether = 5;
  std::vector<std::vector<char>> data;
  std::vector<Execution> executions(kTogether);
  std::vector<ShmTransport> transports(kTogether);
  for (std::size_t k = 0; k < kTogether; ++k)
    data.emplace_back(50'000, rank == 0 ? static_cast<char>('a' + k) : '.');
  for (std::size_t i = 0; i < kTogether; ++i) {
    const std::size_t k = rank == 0 ? i : kTogether - 1 - i;  // begun in different orders
    Binding binding;
    binding.output = reinterpret_cast<std::byte*>(data[k].data());
    binding.rank = rank;
    transports[k].open(
        {&messages->messenger(), static_cast<int>(k) * static_cast<int>(kChannelDepth)});
    binding.transport = &transports[k];
    ASSERT_EQ(executions[k].start(plan, binding), MPI_SUCCESS);
  }
  for (Execution& execution : executions) ASSERT_EQ(finish(execution, GetParam()), MPI_SUCCESS);
  for (std::size_t k = 0; k < kTogether; ++k)
    EXPECT_EQ(data[k], std::vector<char>(50'000, static_cast<char>('a' + k)));
}

/// A receiver that thinks the vector is shorter: an error, and no byte beyond.
TEST_P(InNodeMemory, TruncationIsAnError) {
  Problem problem{.collective = Collective::bcast, .size = size};
  problem.count = rank == 0 ? 600 : 500;
  const ArgsOfRanks ranks(problem);
  const Plan plan(build(*find_algorithm(Collective::bcast, "flat"), ranks[rank]));
  std::vector<char> data(600, rank == 0 ? 'x' : '.');
  Binding binding;
  binding.output = reinterpret_cast<std::byte*>(data.data());
  binding.rank = rank;
  ShmTransport shm;
  shm.open({&messages->messenger()});
  binding.transport = &shm;
  Execution execution;
  int rc = execution.start(plan, binding);
  if (rc == MPI_SUCCESS) rc = finish(execution, GetParam());
  EXPECT_EQ(rc, rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
  for (std::size_t i = 500; i < 600; ++i) EXPECT_EQ(data[i], rank == 0 ? 'x' : '.');
}

/// Two ranks in one process; who waits within the messenger learns that a rank is lost.
struct TwoMessengers {
  static constexpr int kRanks = 2;
  alignas(node::kLinePair) std::byte arena[1 << 16];
  node::WaitPolicy policy;
  std::optional<node::Messenger> first, second;
  std::vector<char> data = std::vector<char>(100);

  TwoMessengers() {
    node::Messenger::prepare(arena, kRanks);
    policy.idle = [](void*) { throw node::RankLost(); };
    first.emplace(arena, 0, kRanks, policy);
    second.emplace(arena, 1, kRanks, policy);
  }
  /// Of a broadcast, on the second.
  static Plan plan() {
    const Problem problem{.collective = Collective::bcast, .size = kRanks, .count = 100};
    const ArgsOfRanks ranks(problem);
    return Plan(build(*find_algorithm(Collective::bcast, "flat"), ranks[1]));
  }
  Binding binding(ShmTransport& transport, int tag = 0) {
    transport.open({&*second, tag});
    Binding made;
    made.output = reinterpret_cast<std::byte*>(data.data());
    made.rank = 1;
    made.transport = &transport;
    return made;
  }
};

// Who waits for a rank that has died, and moves other requests meanwhile, learns of it all the
// same.
TEST(ShmTransport, LooksForTheDeadWhileOthersAreServed) {
  TwoMessengers ranks;
  const Plan plan = TwoMessengers::plan();
  ShmTransport shm;
  Execution execution;
  ASSERT_EQ(execution.start(plan, ranks.binding(shm)), MPI_SUCCESS);
  Waiter waiter(WaitMode::yield);
  const auto wait = [&] {
    for (int i = 0; i < 1000; ++i) {
      ASSERT_EQ(execution.progress(), MPI_SUCCESS);
      execution.wait(waiter, true);
    }
  };
  EXPECT_THROW(wait(), node::RankLost);
  execution.abandon();
}

TEST(ShmTransport, DoesNotWaitForWhatTheProgressOfAnotherHasBrought) {
  TwoMessengers ranks;
  const Plan plan = TwoMessengers::plan();
  ShmTransport own, others;
  Execution execution, other;
  ASSERT_EQ(execution.start(plan, ranks.binding(own)), MPI_SUCCESS);
  ASSERT_EQ(other.start(plan, ranks.binding(others, 1)), MPI_SUCCESS);
  Waiter waiter(WaitMode::yield);
  ASSERT_EQ(execution.progress(), MPI_SUCCESS);
  const std::vector<std::byte> sent(100, std::byte{'x'});
  ranks.first->send(1, 0, sent.data(), sent.size(), {});
  ASSERT_EQ(other.progress(), MPI_SUCCESS);
  EXPECT_NO_THROW(execution.wait(waiter));
  ASSERT_EQ(execution.progress(), MPI_SUCCESS);
  EXPECT_TRUE(execution.done());
  EXPECT_EQ(ranks.data[99], 'x');
  other.abandon();
}

// Another thread may move requests though this one has not heard of it: a session has just begun.
TEST(ShmTransport, KeepsOthersOutWhileThereAreRequests) {
  TwoMessengers ranks;
  const Plan plan = TwoMessengers::plan();
  std::mutex mutex;
  std::atomic<int> movers{1};
  ShmTransport shm;
  Binding binding = ranks.binding(shm);
  shm.open({.messenger = &*ranks.second, .mutex = &mutex, .movers = &movers});
  Execution execution;
  ASSERT_EQ(execution.start(plan, binding), MPI_SUCCESS);
  std::unique_lock held(mutex);
  std::atomic<bool> moved{false};
  std::thread other([&] {
    EXPECT_EQ(execution.progress(), MPI_SUCCESS);
    moved = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(moved);
  held.unlock();
  other.join();
  execution.abandon();
}

INSTANTIATE_TEST_SUITE_P(, InNodeMemory, testing::Values(WaitMode::yield, WaitMode::sleep));

}  // namespace
}  // namespace unisono
