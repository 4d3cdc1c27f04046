#include "exec/execution.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <thread>
#include <vector>

#include "algorithms/catalogue.h"
#include "exec/mpi_transport.h"
#include "tests/exec/finish.h"

namespace unisono {
namespace {

struct RankTest : ::testing::Test {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  void SetUp() override {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
  void TearDown() override { MPI_Comm_free(&comm); }

  std::deque<MpiTransport> transports;
  void open(Binding& binding, int first_tag = 0) {
    MpiTransport& transport = transports.emplace_back();
    transport.open({comm, first_tag, binding.type, binding.unit.extent});
    binding.transport = &transport;
    binding.rank = rank;
  }

  Binding bytes(std::vector<char>& output, int first_tag = 0) {
    Binding binding;
    binding.output = reinterpret_cast<std::byte*>(output.data());
    open(binding, first_tag);
    return binding;
  }
};

struct TwoRanks : RankTest {
  Args args(Collective collective, Count count) const {
    Args a;
    a.collective = collective;
    a.rank = rank;
    a.size = 2;
    a.count = a.send.count = a.recv.count = count;
    a.params.segment = 1024;
    return a;
  }
};

TEST_F(TwoRanks, ProgressDoesNotBlockAndTheExecutionResumes) {
  const Plan plan(
      build(*find_algorithm(Collective::bcast, "chain"), args(Collective::bcast, 9999)));
  std::vector<char> data(9999, rank == 0 ? 'x' : '.');
  Execution execution;
  if (rank == 1) {
    ASSERT_EQ(execution.start(plan, bytes(data)), MPI_SUCCESS);
    for (int i = 0; i < 100; ++i) {  // the root has not begun
      ASSERT_EQ(execution.progress(), MPI_SUCCESS);
      EXPECT_FALSE(execution.moved());
      EXPECT_FALSE(execution.done());
    }
    MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(nullptr, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ASSERT_EQ(execution.start(plan, bytes(data)), MPI_SUCCESS);
  }
  while (!execution.done()) ASSERT_EQ(execution.progress(), MPI_SUCCESS);
  EXPECT_EQ(data, std::vector<char>(9999, 'x'));
}

TEST_F(TwoRanks, ExecutionsInFlightTogetherDoNotMix) {
  const Plan plan(
      build(*find_algorithm(Collective::bcast, "chain"), args(Collective::bcast, 5000)));
  constexpr int kTogether = 5;
  std::vector<std::vector<char>> data;
  std::vector<Execution> executions(kTogether);
  for (int k = 0; k < kTogether; ++k)
    data.emplace_back(5000, rank == 0 ? static_cast<char>('a' + k) : '.');
  for (int i = 0; i < kTogether; ++i) {
    const int k = rank == 0 ? i : kTogether - 1 - i;  // begun in different orders
    const Binding binding =
        bytes(data[static_cast<std::size_t>(k)], k * static_cast<int>(kChannelDepth));
    ASSERT_EQ(executions[static_cast<std::size_t>(k)].start(plan, binding), MPI_SUCCESS);
  }
  for (bool all_done = false; !all_done;) {
    all_done = true;
    for (Execution& execution : executions) {
      ASSERT_EQ(execution.progress(), MPI_SUCCESS);
      all_done = all_done && execution.done();
    }
  }
  for (int k = 0; k < kTogether; ++k)
    EXPECT_EQ(data[static_cast<std::size_t>(k)],
              std::vector<char>(5000, static_cast<char>('a' + k)));
}

TEST_F(TwoRanks, ReducesElementsWithGapsAndNegativeBounds) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, -4, 12, &type);
  MPI_Type_commit(&type);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(
      [](void* in, void* inout, int* n, MPI_Datatype*) {
        for (int i = 0; i < *n; ++i)
          static_cast<int*>(inout)[3 * i] += static_cast<int*>(in)[3 * i];
      },
      1, &op);
  for (const char* name : {"recursive_doubling", "ring", "circulant", "rabenseifner"}) {
    const Plan plan(
        build(*find_algorithm(Collective::allreduce, name), args(Collective::allreduce, 7)));
    std::vector<int> input(21, -1), output(21, -5);
    for (std::size_t i = 0; i < 7; ++i) input[3 * i] = static_cast<int>(i) + 10 * rank;
    Binding binding;
    binding.input = reinterpret_cast<std::byte*>(input.data());
    binding.output = reinterpret_cast<std::byte*>(output.data());
    binding.type = type;
    binding.unit = facts_of(type);
    binding.op = op;
    open(binding);
    Execution execution;
    ASSERT_EQ(execution.start(plan, binding), MPI_SUCCESS);
    ASSERT_EQ(finish(execution, WaitMode::yield), MPI_SUCCESS);
    for (std::size_t i = 0; i < 21; ++i)
      EXPECT_EQ(output[i], i % 3 == 0 ? 2 * static_cast<int>(i / 3) + 10 : -5) << name << " " << i;
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

// ---- chains that the root makes of those who are there; any number of ranks --------------------

struct ArrivalChain : RankTest {
  Plan plan(int root, Count count, Count pause = 0) const {
    Args args;
    args.params.pause = pause;
    args.collective = Collective::bcast;
    args.rank = rank;
    args.size = size;
    args.root = root;
    args.count = args.send.count = args.recv.count = count;
    args.params.segment = 1000;
    return Plan(build(*find_algorithm(Collective::bcast, "arrival_chain"), args));
  }
  std::vector<char> vector(int root, Count count, char value = 'x') {
    return std::vector<char>(static_cast<std::size_t>(count), rank == root ? value : '.');
  }
  static void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }
  /// The last rank comes when it has word that all others are done. From root 0, 4500 elements.
  void run_with_the_last_after_all_others(const Plan& own) {
    const int last = size - 1;
    auto data = vector(0, 4500);
    if (rank == last)
      for (int other = 1; other < last; ++other)
        MPI_Recv(nullptr, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    Execution execution;
    ASSERT_EQ(execution.start(own, bytes(data)), MPI_SUCCESS);
    ASSERT_EQ(finish(execution, WaitMode::yield), MPI_SUCCESS);
    if (rank != 0 && rank != last) MPI_Send(nullptr, 0, MPI_BYTE, last, 0, MPI_COMM_WORLD);
    EXPECT_EQ(data, std::vector<char>(4500, 'x'));
  }
};

TEST_F(ArrivalChain, ServesWhoeverIsLate) {
  for (int root = 0; root < size; ++root)
    for (int late = 0; late < size; ++late)
      for (const Count count : {0, 1, 4500}) {
        const Plan own = plan(root, count);
        auto data = vector(root, count);
        MPI_Barrier(comm);
        if (rank == late) sleep_ms(5);
        if (rank == (late + 1) % size) sleep_ms(2);
        Execution execution;
        ASSERT_EQ(execution.start(own, bytes(data)), MPI_SUCCESS);
        ASSERT_EQ(finish(execution, WaitMode::yield), MPI_SUCCESS);
        EXPECT_EQ(data, std::vector<char>(data.size(), 'x')) << "root " << root << " late " << late;
      }
}

// All come while the root pauses: one chain, in which the last of them gets no message of the
// root's but its neighbours. The root would go on pausing for a minute; a rank that never comes in
// that time is one second late.
TEST_F(ArrivalChain, APauseEndsWhenAllAreThere) {
  for (const int late_ms : {0, 20}) {
    const Plan own = plan(0, 4500, 60'000'000);
    auto data = vector(0, 4500);
    MPI_Barrier(comm);
    if (rank == size - 1) sleep_ms(late_ms);
    Execution execution;
    ASSERT_EQ(execution.start(own, bytes(data)), MPI_SUCCESS);
    ASSERT_EQ(finish(execution, WaitMode::yield), MPI_SUCCESS);
    EXPECT_EQ(data, std::vector<char>(4500, 'x'));
  }
}

TEST_F(ArrivalChain, APauseEndsWithoutThoseWhoAreLate) {
  run_with_the_last_after_all_others(plan(0, 4500, 2000));
}

TEST_F(ArrivalChain, NobodyWaitsForARankThatHasNotCome) {
  run_with_the_last_after_all_others(plan(0, 4500));
}

TEST_F(ArrivalChain, RunsAgainAndAgain) {
  const Plan own = plan(size - 1, 2500);
  Execution execution;
  for (char value = 'a'; value <= 'z'; ++value) {
    auto data = vector(size - 1, 2500, value);
    if ((value + rank) % 5 == 0) sleep_ms(1);
    ASSERT_EQ(execution.start(own, bytes(data)), MPI_SUCCESS);
    ASSERT_EQ(finish(execution, WaitMode::yield), MPI_SUCCESS);
    ASSERT_EQ(data, std::vector<char>(2500, value));
  }
}

TEST_F(ArrivalChain, ExecutionsInFlightTogetherDoNotMix) {
  constexpr int kTogether = 3;
  std::vector<Plan> plans;
  std::vector<std::vector<char>> data;
  for (int k = 0; k < kTogether; ++k) {
    plans.push_back(plan(k % size, 3500));
    data.push_back(vector(k % size, 3500, static_cast<char>('a' + k)));
  }
  std::vector<Execution> executions(kTogether);
  for (int i = 0; i < kTogether; ++i) {
    const int k = rank % 2 == 0 ? i : kTogether - 1 - i;  // begun in different orders
    const auto at = static_cast<std::size_t>(k);
    const Binding own = bytes(data[at], k * static_cast<int>(kChannelDepth));
    ASSERT_EQ(executions[at].start(plans[at], own), MPI_SUCCESS);
    sleep_ms(rank);
  }
  for (bool all_done = false; !all_done;) {
    all_done = true;
    for (Execution& execution : executions) {
      ASSERT_EQ(execution.progress(), MPI_SUCCESS);
      all_done = all_done && execution.done();
    }
  }
  for (std::size_t k = 0; k < kTogether; ++k)
    EXPECT_EQ(data[k], std::vector<char>(3500, static_cast<char>('a' + k)));
}

TEST_F(ArrivalChain, AnErrorInATokenEndsIt) {
  // Errors of several requests: Open MPI asks the communicator, MPICH MPI_COMM_WORLD.
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  for (const MPI_Comm c : {comm, MPI_COMM_WORLD}) MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  const int more_than_a_token = 7;
  if (rank == 1) MPI_Send(&more_than_a_token, 1, MPI_INT, 0, 0, comm);
  if (rank == 0) {
    const Plan own = plan(0, 2500);
    auto data = vector(0, 2500);
    Execution execution;
    int rc = execution.start(own, bytes(data));
    while (rc == MPI_SUCCESS && !execution.done()) rc = execution.progress();
    int error_class = MPI_SUCCESS;
    MPI_Error_class(rc, &error_class);
    EXPECT_EQ(error_class, MPI_ERR_TRUNCATE);
    EXPECT_TRUE(execution.done());
    EXPECT_EQ(execution.progress(), MPI_SUCCESS);
  }
  MPI_Barrier(comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
  MPI_Errhandler_free(&before);
}

}  // namespace
}  // namespace unisono
