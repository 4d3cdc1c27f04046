// Requests: many in flight on one communicator, whatever the program frees meanwhile, and errors.
#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "tests/calls/requests.h"

namespace unisono {
namespace {

TEST_F(RequestTest, ABlockingCallIsARequest) {
  Ints mine(1000, rank + 1), sum(1000);
  Request request(*state(), allreduce_of(mine, sum), choice(allreduce, "ring"), true,
                  Request::Lifetime::blocking);
  request.start();
  request.wait(WaitMode::yield);
  EXPECT_EQ(request.result(), MPI_SUCCESS);
  EXPECT_EQ(sum, Ints(1000, size * (size + 1) / 2));
}

// Started in one order, completed in another on every rank; among them one that exchanges counts
// first. What the program frees at once, MPI keeps until they are done (MPI-4.1, 5.1.9 and 7.4.3).
TEST_F(RequestTest, AHundredInFlightOnACommunicatorThatIsFreed) {
  constexpr int kRequests = 100;
  std::vector<Ints> inputs, outputs;
  std::vector<std::shared_ptr<Request>> requests;
  Ints counts(static_cast<std::size_t>(size), 40), displs(counts.size());
  for (std::size_t i = 0; i < displs.size(); ++i) displs[i] = 50 * static_cast<int>(i);
  for (int k = 0; k < kRequests; ++k) {
    inputs.emplace_back(900, 1000 * rank + k);
    outputs.emplace_back(900, -1);
  }
  for (int k = 0; k < kRequests; ++k) {
    Ints& in = inputs[static_cast<std::size_t>(k)];
    Ints& out = outputs[static_cast<std::size_t>(k)];
    if (k % 3 == 0) {
      requests.push_back(start(allreduce_of(in, out), k % 2 == 0 ? "ring" : "recursive_doubling"));
    } else if (k % 3 == 1) {
      MPI_Datatype every_other = MPI_DATATYPE_NULL;
      MPI_Type_vector(450, 1, 2, MPI_INT, &every_other);
      MPI_Type_commit(&every_other);
      if (rank == k % size) out = in;
      requests.push_back(start(bcast_of(out, k % size, every_other, 1), "chain:segment=256"));
      MPI_Type_free(&every_other);
    } else {
      Call call{.collective = gatherv, .sendbuf = in.data(), .sendcount = 40};
      call.sendtype = call.recvtype = MPI_INT;
      call.recvbuf = out.data();
      call.recvcounts = counts.data();
      call.rdispls = displs.data();
      call.root = k % size;
      call.comm = comm;
      requests.push_back(start(call, "binomial"));
    }
  }
  std::fill(counts.begin(), counts.end(), -5);  // the arrays are the program's again
  MPI_Comm_free(&comm);
  for (int k = 0; k < kRequests; ++k)
    wait_for(requests[static_cast<std::size_t>((k * 37 + 11 * rank) % kRequests)]);
  const int ranks = size * (size - 1) / 2 * 1000;
  for (int k = 0; k < kRequests; ++k) {
    SCOPED_TRACE(k);
    const Ints& out = outputs[static_cast<std::size_t>(k)];
    const int root = k % size;
    if (k % 3 == 0) {
      EXPECT_EQ(out, Ints(900, ranks + size * k));
    } else if (k % 3 == 1) {
      for (std::size_t i = 0; i < 900; ++i)
        ASSERT_EQ(out[i], i % 2 == 0 || rank == root ? 1000 * root + k : -1);
    } else if (rank == root) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(50 * size); ++i)
        ASSERT_EQ(out[i], i % 50 < 40 ? 1000 * static_cast<int>(i / 50) + k : -1);
    }
  }
}

TEST_F(RequestTest, AThousandInFlightDoNotMix) {
  constexpr int kRequests = 1200;
  std::vector<Ints> data;
  for (int k = 0; k < kRequests; ++k) data.emplace_back(3, rank == 0 ? k : -1);
  std::vector<std::shared_ptr<Request>> requests;
  for (Ints& one : data) requests.push_back(start(bcast_of(one, 0), "binomial"));
  for (int k = kRequests - 1; k >= 0; --k) wait_for(requests[static_cast<std::size_t>(k)]);
  for (int k = 0; k < kRequests; ++k) ASSERT_EQ(data[static_cast<std::size_t>(k)], Ints(3, k));
}

// A vector that the root thinks is longer is an error on the others, and on them only in that call.
TEST_F(RequestTest, AnErrorInMidFlightIsThatRequestsOwn) {
  // MPICH raises what PMPI_Testsome finds there, not on the communicator of the message.
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  Ints wrong(60, rank == 0 ? 7 : -1);
  Ints mine(500, rank), sum(500), vector(700, rank == 0 ? 3 : -1);
  const auto before = start(allreduce_of(mine, sum), "ring");
  const auto bad = start(bcast_of(wrong, 0, MPI_INT, rank == 0 ? 60 : 50), "flat");
  const auto after = start(bcast_of(vector, 0), "chain:segment=100");
  wait_for(after);
  bad->wait(WaitMode::yield);
  wait_for(before);
  const int error = bad->result().value_or(MPI_SUCCESS);
  int error_class = MPI_SUCCESS;
  MPI_Error_class(error, &error_class);
  EXPECT_EQ(error_class, rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
  for (std::size_t i = 50; i < 60; ++i) EXPECT_EQ(wrong[i], rank == 0 ? 7 : -1);
  EXPECT_EQ(vector, Ints(700, 3));
  EXPECT_EQ(sum, Ints(500, size * (size - 1) / 2));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
}

// MPI promises 32767 tags, which would be used again while older calls have them.
TEST_F(RequestTest, TagsAreFreeWhenAnOlderCallHasGivenThemBack) {
  TagBook& book = state()->tags();
  const Tags first = book.take();
  EXPECT_TRUE(book.may_use(first));
  Tags again = book.take();
  for (; again.first() != first.first(); again = book.take()) {
    book.give_back(again);
    ASSERT_LT(again.number - first.number, 1U << 22);
  }
  EXPECT_FALSE(book.may_use(again));
  book.give_back(first);
  EXPECT_TRUE(book.may_use(again));
  book.give_back(again);
}

TEST_F(RequestTest, SoManyCallsAreUnderWayAtOnceAndTheOldestFirst) {
  TagBook& book = state()->tags();
  std::vector<Tags> all;
  for (int i = 0; i < 1000; ++i) all.push_back(book.take());
  const auto under_way = [&](std::size_t from) {
    std::size_t count = 0;
    while (from + count < all.size() && book.may_use(all[from + count])) ++count;
    return count;
  };
  const std::size_t most = under_way(0);
  EXPECT_GE(most, 32U);
  EXPECT_LE(most, 256U);
  for (std::size_t i = 1; i < 10; ++i) book.give_back(all[i]);
  EXPECT_EQ(under_way(0), most);  // not before the oldest is over
  book.give_back(all[0]);
  EXPECT_EQ(under_way(10), most);
  for (std::size_t i = 10; i < all.size(); ++i) book.give_back(all[i]);
}

TEST_F(RequestTest, TagsThatLastAreNobodyElses) {
  TagBook& book = state()->tags();
  std::set<int> all;
  for (int i = 0; i < 100; ++i) all.insert(book.take_lasting()->first());
  EXPECT_EQ(all.size(), 100U);
  const int first_of_calls = Tags{}.first();
  for (Tags tags; tags.number == 0 || tags.first() != first_of_calls; ++tags.number)
    ASSERT_FALSE(all.contains(tags.first()));
}

/// The memory of its first start serves the others.
TEST_F(RequestTest, WithTagsThatLastItIsStartedAgain) {
  const Ints mine(500, rank);
  Ints sum(500);
  Request request(*state(), allreduce_of(mine, sum), choice(allreduce, "ring"), true,
                  Request::Lifetime::in_flight, state()->tags().take_lasting());
  for (int round = 0; round < 3; ++round) {
    sum.assign(sum.size(), -1);
    request.start();
    request.wait(WaitMode::yield);
    EXPECT_EQ(request.result(), MPI_SUCCESS);
    EXPECT_EQ(sum, Ints(500, size * (size - 1) / 2));
  }
}

}  // namespace
}  // namespace unisono
