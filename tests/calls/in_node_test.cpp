// Calls through the memory of the node: what becomes of the program's buffers.
#include "calls/in_node.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "calls/bound_call.h"
#include "calls/fast_path.h"
#include "comm/node_memory.h"
#include "comm/placement.h"
#include "node/pages.h"

namespace unisono {
namespace {

using enum Collective;
using Ints = std::vector<int>;

class InNode : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    MPI_Comm_rank(MPI_COMM_WORLD, &s_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s_size);
    s_node = ranks_of_node(MPI_COMM_WORLD);
    start_node_memory(s_node, {});
    start_communicators(0);
  }
  static void TearDownTestSuite() {
    stop_communicators();
    stop_node_memory();
    MPI_Comm_free(&s_node);
  }

  static Call call_of(Collective collective, const void* from, void* into, int count,
                      MPI_Datatype type = MPI_INT) {
    Call call{.collective = collective, .sendbuf = from, .recvbuf = into};
    call.sendcount = call.recvcount = count;
    call.sendtype = call.recvtype = type;
    call.comm = MPI_COMM_WORLD;
    return call;
  }

  static void run(const Call& call) {
    const CallInfo look = info_of(call);
    ASSERT_TRUE(look);
    look.communicator->meet();
    ASSERT_NE(look.communicator->team(), nullptr);
    EXPECT_EQ(run_in_node(*look.communicator, call, look.bytes, node::Protocol::rule, true),
              MPI_SUCCESS);
  }
  /// Whether a call of this kind is known; if it is, it runs.
  template <Collective kCollective>
  static bool is_known(const Call& call) {
    return ran_on_fast_path<kCollective>(call, info_of(call));
  }
  /// The long way, then the short way, which must give the same.
  template <Collective kCollective>
  static void run_both_ways(const Call& call, const Ints& output, const Ints& expected) {
    auto& data = const_cast<Ints&>(output);
    const Ints before = data;
    run(call);
    EXPECT_EQ(data, expected);
    data = before;
    EXPECT_TRUE(is_known<kCollective>(call));
    EXPECT_EQ(data, expected);
  }

  static MPI_Comm s_node;
  static int s_rank, s_size;
};
MPI_Comm InNode::s_node = MPI_COMM_NULL;
int InNode::s_rank = 0, InNode::s_size = 1;

/// 10 * rank + index.
Ints numbers(int rank, int count) {
  Ints made(static_cast<std::size_t>(count));
  std::iota(made.begin(), made.end(), 10 * rank);
  return made;
}

Ints numbers_of_all(int size, int count) {
  Ints all;
  for (int rank = 0; rank < size; ++rank)
    for (const int number : numbers(rank, count)) all.push_back(number);
  return all;
}

TEST_F(InNode, BlocksInPlaceStayWhereTheyAre) {
  const int root = s_size - 1;
  const Ints own = numbers(s_rank, 3), all = numbers_of_all(s_size, 3);
  Ints gathered(all.size(), -1);
  std::copy(own.begin(), own.end(), gathered.begin() + 3 * s_rank);
  run(call_of(allgather, MPI_IN_PLACE, gathered.data(), 3));
  EXPECT_EQ(gathered, all);

  Call call = call_of(gather, s_rank == root ? MPI_IN_PLACE : own.data(), nullptr, 3);
  call.root = root;
  Ints at_root(all.size(), -1);
  std::copy(own.begin(), own.end(), at_root.begin() + 3 * s_rank);
  if (s_rank == root) call.recvbuf = at_root.data();
  run(call);
  if (s_rank == root) {
    EXPECT_EQ(at_root, all);
  }

  Ints received(3, -1);
  call = call_of(scatter, all.data(), s_rank == root ? MPI_IN_PLACE : received.data(), 3);
  call.root = root;
  run(call);
  EXPECT_EQ(received, s_rank == root ? Ints(3, -1) : own);
}

TEST_F(InNode, ReductionsInPlaceReadTheirResult) {
  Ints sum = numbers(s_rank, 4), expected(4);
  for (int rank = 0; rank < s_size; ++rank)
    for (int i = 0; i < 4; ++i) expected[static_cast<std::size_t>(i)] += 10 * rank + i;
  Call call = call_of(allreduce, MPI_IN_PLACE, sum.data(), 4);
  call.op = MPI_SUM;
  run(call);
  EXPECT_EQ(sum, expected);
}

TEST_F(InNode, DatatypesWithGapsArePackedAndTheGapsStay) {
  MPI_Datatype every_other = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  Ints data = s_rank == 0 ? Ints{1, -7, 2, -7, 3, -7} : Ints(6, -9);
  run(call_of(bcast, nullptr, data.data(), 1, every_other));
  EXPECT_EQ(data, s_rank == 0 ? (Ints{1, -7, 2, -7, 3, -7}) : (Ints{1, -9, 2, -9, 3, -9}));
  MPI_Type_free(&every_other);
}

TEST_F(InNode, GapsOfPairsStay) {
  struct Pair {
    double value;
    int index;
    int gap;
  };
  static_assert(sizeof(Pair) == 16);
  const std::array own = {Pair{1.0 + s_rank, s_rank, -1}, Pair{9.0 - s_rank, s_rank, -1}};
  std::array<Pair, 2> least{Pair{0, 0, 77}, Pair{0, 0, 78}};
  Call call = call_of(allreduce, own.data(), least.data(), 2, MPI_DOUBLE_INT);
  call.op = MPI_MINLOC;
  run(call);
  EXPECT_EQ(least[0].value, 1.0);
  EXPECT_EQ(least[0].index, 0);
  EXPECT_EQ(least[1].value, 10.0 - s_size);
  EXPECT_EQ(least[1].index, s_size - 1);
  EXPECT_EQ(least[0].gap, 77);
  EXPECT_EQ(least[1].gap, 78);
}

// Nor do schedules read or write what lies between a pair and the next.
TEST_F(InNode, PairsInSchedulesAreReducedByTheLibrary) {
  std::array<std::byte, 64> memory{};
  Call call = call_of(allreduce, memory.data(), memory.data() + 32, 2, MPI_DOUBLE_INT);
  call.op = MPI_MINLOC;
  EXPECT_FALSE(BoundCall(call, s_rank, s_size, true).binding.built_in);
  call.recvtype = MPI_2INT;  // without a gap
  EXPECT_TRUE(BoundCall(call, s_rank, s_size, true).binding.built_in);
}

TEST_F(InNode, AKindIsKnownOnceItHasRun) {
  const Ints own = numbers(s_rank, 5);
  Ints sum(5);
  Call call = call_of(allreduce, own.data(), sum.data(), 5);
  call.op = MPI_SUM;
  EXPECT_FALSE(is_known<allreduce>(call));
  run(call);
  const Ints expected = sum;
  std::fill(sum.begin(), sum.end(), 0);
  EXPECT_TRUE(is_known<allreduce>(call));
  EXPECT_EQ(sum, expected);

  Call other = call;
  other.op = MPI_PROD;
  EXPECT_FALSE(is_known<allreduce>(other));
  other = call;
  other.recvcount = 4;
  EXPECT_FALSE(is_known<allreduce>(other));
  other = call;
  other.recvtype = MPI_UNSIGNED;
  EXPECT_FALSE(is_known<allreduce>(other));
  MPI_Barrier(MPI_COMM_WORLD);
  forget_reaches();
  EXPECT_FALSE(is_known<allreduce>(call));
}

TEST_F(InNode, KnownBlocksMayBeInOtherDatatypes) {
  MPI_Datatype reversed = MPI_DATATYPE_NULL;
  const std::array displacements = {1, 0};
  MPI_Type_create_indexed_block(2, 1, displacements.data(), MPI_INT, &reversed);
  MPI_Type_commit(&reversed);
  const Ints own = numbers(s_rank, 2), all = numbers_of_all(s_size, 2);
  Ints gathered(all.size());
  run(call_of(allgather, own.data(), gathered.data(), 2));
  EXPECT_TRUE(is_known<allgather>(call_of(allgather, own.data(), gathered.data(), 2)));
  EXPECT_EQ(gathered, all);
  // A short way and a long one meet: on rank 0 the call is to be packed.
  Call call = call_of(allgather, own.data(), gathered.data(), 2);
  if (s_rank == 0) {
    call.sendcount = 1;
    call.sendtype = reversed;
  }
  EXPECT_EQ(is_known<allgather>(call), s_rank != 0);
  if (s_rank == 0) run(call);
  EXPECT_EQ((Ints{gathered[0], gathered[1]}), (Ints{1, 0}));
  EXPECT_EQ(Ints(gathered.begin() + 2, gathered.end()), Ints(all.begin() + 2, all.end()));
  MPI_Type_free(&reversed);
}

/// Rank r has r + 1 ints in every collective here.
struct Blocks {
  explicit Blocks(int size) {
    for (int rank = 0; rank < size; ++rank) {
      counts.push_back(rank + 1);
      displs.push_back(static_cast<int>(all.size()) + rank);  // one int between two blocks
      for (const int number : numbers(rank, rank + 1)) all.push_back(number);
      apart.resize(static_cast<std::size_t>(displs.back()), -1);
      for (const int number : numbers(rank, rank + 1)) apart.push_back(number);
    }
  }
  Ints counts, displs, all;
  Ints apart;  ///< all, at displs
};

TEST_F(InNode, BlocksOfDifferentLengthsAreKnown) {
  const Blocks blocks(s_size);
  const Ints own = numbers(s_rank, s_rank + 1);
  const int root = s_size - 1;
  Ints gathered(blocks.apart.size(), -1);
  Call call = call_of(allgatherv, own.data(), gathered.data(), 0);
  call.sendcount = s_rank + 1;
  call.recvcounts = blocks.counts.data();
  call.rdispls = blocks.displs.data();
  run_both_ways<allgatherv>(call, gathered, blocks.apart);

  Ints in_place(blocks.apart.size(), -1);
  std::copy(own.begin(), own.end(),
            in_place.begin() + blocks.displs[static_cast<std::size_t>(s_rank)]);
  call.sendbuf = MPI_IN_PLACE;
  call.recvbuf = in_place.data();
  run_both_ways<allgatherv>(call, in_place, blocks.apart);

  // The root's block is where it stays.
  Ints at_root(blocks.apart.size(), -1);
  std::copy(own.begin(), own.end(),
            at_root.begin() + blocks.displs[static_cast<std::size_t>(s_rank)]);
  call.collective = gatherv;
  call.root = root;
  call.sendbuf = s_rank == root ? MPI_IN_PLACE : own.data();
  call.recvbuf = s_rank == root ? at_root.data() : nullptr;
  const Ints kept = at_root;
  run_both_ways<gatherv>(call, at_root, s_rank == root ? blocks.apart : kept);

  Ints received(own.size(), -1);
  call = call_of(scatterv, blocks.apart.data(), received.data(), s_rank + 1);
  call.root = root;
  call.sendcounts = blocks.counts.data();
  call.sdispls = blocks.displs.data();
  if (s_rank == root) call.recvbuf = MPI_IN_PLACE;
  run_both_ways<scatterv>(call, received, s_rank == root ? Ints(own.size(), -1) : own);
}

TEST_F(InNode, WhatIsSentToNobodyMayHaveNoDatatype) {
  // Rank r sends r + 1 ints to rank 0, and nothing to others.
  const Blocks blocks(s_size);
  const Ints own = numbers(s_rank, s_rank + 1);
  const auto size = static_cast<std::size_t>(s_size);
  Ints send_counts(size), none(size), byte_displs;
  send_counts[0] = s_rank + 1;
  for (const int displ : blocks.displs) byte_displs.push_back(displ * int{sizeof(int)});
  std::vector<MPI_Datatype> send_types(size, MPI_DATATYPE_NULL), receive_types(size, MPI_INT);
  send_types[0] = MPI_INT;
  const bool receives = s_rank == 0;
  Ints received(blocks.apart.size(), -1);
  Call call = call_of(alltoallw, own.data(), received.data(), 0);
  call.sendcounts = send_counts.data();
  call.sdispls = none.data();
  call.sendtypes = send_types.data();
  call.recvcounts = receives ? blocks.counts.data() : none.data();
  call.rdispls = byte_displs.data();
  call.recvtypes = receive_types.data();
  const Ints expected = receives ? blocks.apart : received;
  run_both_ways<alltoallw>(call, received, expected);

  call.collective = alltoallv;
  call.sendtypes = call.recvtypes = nullptr;
  call.rdispls = blocks.displs.data();
  run_both_ways<alltoallv>(call, received, expected);
}

TEST_F(InNode, BlocksOfOneArrayAreNotInPlace) {
  const auto size = static_cast<std::size_t>(s_size);
  Ints array(2 * size, -1);  // received, sent
  std::fill(array.begin() + s_size, array.end(), s_rank);
  const Ints counts(size, 1);
  Ints into(size), from(size);
  std::iota(into.begin(), into.end(), 0);
  std::iota(from.begin(), from.end(), s_size);
  Call call = call_of(alltoallv, array.data(), array.data(), 0);
  call.sendcounts = call.recvcounts = counts.data();
  call.sdispls = from.data();
  call.rdispls = into.data();
  run(call);
  const Ints first(array.begin(), array.begin() + s_size);
  EXPECT_EQ(first, into);
  EXPECT_FALSE(is_known<alltoallv>(call));
}

TEST_F(InNode, PartsOfAReductionAreKnown) {
  const Blocks blocks(s_size);
  Ints part(static_cast<std::size_t>(s_rank + 1), -1), expected;
  for (const int number : numbers(s_rank, s_rank + 1)) expected.push_back(s_size * number);
  Call call = call_of(reduce_scatter, blocks.all.data(), part.data(), 0);
  call.recvcounts = blocks.counts.data();
  call.op = MPI_SUM;
  run_both_ways<reduce_scatter>(call, part, expected);
}

/// As on a full /dev/shm: a page that one rank cannot allocate.
TEST_F(InNode, LongCallsAreNobodysWhereOneRankHasNoMemoryForThem) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const Ints mine(10'000, 1);
  Ints sum(mine.size());
  Call shorter = call_of(allreduce, mine.data(), sum.data(), 1);
  shorter.op = MPI_SUM;
  shorter.comm = comm;
  run(shorter);
  Communicator& communicator = *info_of(shorter).communicator;
  node::Team& team = communicator.team()->team();
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* const refused =
      reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(team.slot(s_rank, page)) & -page);
  if (!node::allocates_parts(refused)) GTEST_SKIP() << "this kernel allocates all at once";
  if (s_rank == s_size - 1) mprotect(refused, page, PROT_NONE);
  Call longer = shorter;
  longer.sendcount = longer.recvcount = static_cast<int>(mine.size());
  const Count bytes = info_of(longer).bytes;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(run_in_node(communicator, longer, bytes, node::Protocol::rule, true));
    EXPECT_FALSE(is_known<allreduce>(longer));
    run_both_ways<allreduce>(shorter, sum, [&] {
      Ints expected(sum);
      expected[0] = s_size;
      return expected;
    }());
  }
  mprotect(refused, page, PROT_READ | PROT_WRITE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
}

TEST_F(InNode, StepsOfAComposition) {
  const auto team = make_team(MPI_COMM_WORLD);
  ASSERT_NE(team, nullptr);
  ASSERT_TRUE(team->make_room());
  Binding ints;
  ints.type = MPI_INT;
  ints.unit = facts_of(MPI_INT);
  ints.op = MPI_SUM;
  GroupCall call{.collective = reduce_scatter};
  for (int rank = 0; rank < s_size; ++rank) call.counts.push_back(rank);
  const int total = s_size * (s_size - 1) / 2;
  const Ints own(static_cast<std::size_t>(total), s_rank + 1);
  Ints part(static_cast<std::size_t>(s_rank), -1);
  run_in_node(team->team(), call, reinterpret_cast<const std::byte*>(own.data()),
              reinterpret_cast<std::byte*>(part.data()), ints);
  EXPECT_EQ(part, Ints(part.size(), s_size * (s_size + 1) / 2));

  // Then all of it again, each its part in place.
  call.collective = allgatherv;
  call.in_place = true;
  Ints whole(static_cast<std::size_t>(total), -1);
  std::fill_n(whole.begin() + s_rank * (s_rank - 1) / 2, s_rank, 100 + s_rank);
  run_in_node(team->team(), call, nullptr, reinterpret_cast<std::byte*>(whole.data()), ints);
  Ints expected;
  for (int rank = 0; rank < s_size; ++rank) expected.insert(expected.end(), rank, 100 + rank);
  EXPECT_EQ(whole, expected);
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace unisono
