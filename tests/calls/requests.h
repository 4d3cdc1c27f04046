// Requests on a communicator of their own.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "calls/in_flight.h"
#include "select/spec.h"

namespace unisono {

using enum Collective;
using Ints = std::vector<int>;

/// A request in flight that nobody is told of.
class Untold : public Moved {
 public:
  explicit Untold(std::shared_ptr<Request> request) : request_(std::move(request)) {}
  bool move() noexcept override {
    request_->progress();
    return request_->done();
  }
  void tell() noexcept override {}

 private:
  std::shared_ptr<Request> request_;
};

struct RequestTest : ::testing::Test {
  int rank = 0, size = 1;
  MPI_Comm comm = MPI_COMM_NULL;

  void SetUp() override {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    start_communicators(1 << 20);
    ASSERT_NE(state()->own(), MPI_COMM_NULL);
  }
  void TearDown() override {
    EXPECT_FALSE(progress_in_flight());
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    stop_communicators();
  }
  Communicator* state() const { return Communicator::of(comm); }

  static Choice choice(Collective collective, const char* spec) {
    const auto parsed = parse_spec(collective, spec);
    EXPECT_TRUE(parsed) << spec;
    return {parsed->algorithm, parsed->params, "test"};
  }
  Call allreduce_of(const Ints& from, Ints& into, MPI_Datatype type = MPI_INT, int count = -1) {
    Call call{.collective = allreduce, .sendbuf = from.data(), .recvbuf = into.data()};
    call.recvcount = count < 0 ? static_cast<int>(from.size()) : count;
    call.recvtype = type;
    call.op = MPI_SUM;
    call.comm = comm;
    return call;
  }
  Call bcast_of(Ints& data, int root, MPI_Datatype type = MPI_INT, int count = -1) {
    Call call{.collective = bcast, .recvbuf = data.data()};
    call.recvcount = count < 0 ? static_cast<int>(data.size()) : count;
    call.recvtype = type;
    call.root = root;
    call.comm = comm;
    return call;
  }
  std::shared_ptr<Request> start(const Call& call, const char* spec) {
    const auto request = std::make_shared<Request>(*state(), call, choice(call.collective, spec),
                                                   true, Request::Lifetime::in_flight);
    MovedNode node;
    node.push_back(std::make_shared<Untold>(request));
    request->start();
    if (!request->done()) enter_flight(node);
    return request;
  }
  static void wait_for(const std::shared_ptr<Request>& request) {
    request->wait(WaitMode::yield);
    EXPECT_EQ(request->result(), MPI_SUCCESS);
  }
};

}  // namespace unisono
