#include "runtime/executor.h"

#include <gtest/gtest.h>

#include <vector>

#include "algorithms/catalogue.h"

namespace unisono {
namespace {

struct TwoRanks : ::testing::Test {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  void SetUp() override {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }
  void TearDown() override { MPI_Comm_free(&comm); }

  Args args(Collective collective, Count count) const {
    Args a;
    a.collective = collective;
    a.rank = rank;
    a.size = 2;
    a.count = a.send.count = a.recv.count = count;
    a.params.segment = 1024;
    return a;
  }
  Binding bytes(std::vector<char>& output) const {
    Binding binding;
    binding.output = reinterpret_cast<std::byte*>(output.data());
    binding.comm = comm;
    binding.rank = rank;
    return binding;
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
    Binding binding = bytes(data[static_cast<std::size_t>(k)]);
    binding.first_tag = k * static_cast<int>(kChannelDepth);
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
    binding.comm = comm;
    binding.rank = rank;
    Execution execution;
    ASSERT_EQ(execution.start(plan, binding), MPI_SUCCESS);
    ASSERT_EQ(execution.finish(WaitMode::yield), MPI_SUCCESS);
    for (std::size_t i = 0; i < 21; ++i)
      EXPECT_EQ(output[i], i % 3 == 0 ? 2 * static_cast<int>(i / 3) + 10 : -5) << name << " " << i;
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

}  // namespace
}  // namespace unisono
