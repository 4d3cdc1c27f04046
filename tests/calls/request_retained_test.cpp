// Requests in flight whose buffers are on a device (stub_cuda.cpp: nobody but the driver may touch
// them), and whose operation the program frees meanwhile.
#include <dlfcn.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "calls/retained_operation.h"
#include "mpi/device_memory.h"
#include "tests/calls/requests.h"

extern "C" {
void* stub_device_allocate(std::size_t bytes);
int cuMemcpyDtoH_v2(void* to, std::uintptr_t from, std::size_t bytes);
int cuMemcpyHtoD_v2(std::uintptr_t to, const void* from, std::size_t bytes);
}

namespace unisono {
namespace {

int g_freed = 0;

/// Numbers on a device, which is never given back.
class OnDevice {
 public:
  explicit OnDevice(const Ints& values)
      : size_(values.size()), at_(static_cast<int*>(stub_device_allocate(size_ * sizeof(int)))) {
    put(values);
  }
  void put(const Ints& values) const {
    cuMemcpyHtoD_v2(reinterpret_cast<std::uintptr_t>(at_), values.data(), size_ * sizeof(int));
  }
  Ints get() const {
    Ints values(size_);
    cuMemcpyDtoH_v2(values.data(), reinterpret_cast<std::uintptr_t>(at_), size_ * sizeof(int));
    return values;
  }
  int* at() const { return at_; }

 private:
  std::size_t size_;
  int* at_;
};

struct RetainedTest : RequestTest {
  Call allreduce_on_device(const OnDevice& from, const OnDevice& into, int count) {
    Call call = allreduce_of({}, unused_);
    call.sendbuf = from.at();
    call.recvbuf = into.at();
    call.recvcount = count;
    return call;
  }
  Call bcast_on_device(int* where, MPI_Datatype type, int count, int root) {
    Call call = bcast_of(unused_, root, type, count);
    call.recvbuf = where;
    return call;
  }
  Ints unused_;
};

TEST_F(RetainedTest, AHundredInFlightOnADevice) {
  constexpr int kRequests = 100, kCount = 300;
  std::vector<OnDevice> inputs, outputs;
  std::vector<std::shared_ptr<Request>> requests;
  for (int k = 0; k < kRequests; ++k) {
    inputs.emplace_back(Ints(kCount, 1000 * rank + k));
    outputs.emplace_back(Ints(kCount + 1, -1));
    Call call = allreduce_on_device(inputs.back(), outputs.back(), kCount);
    if (k % 2 == 1) {
      if (rank == k % size) outputs.back().put(Ints(kCount + 1, k));
      call = bcast_on_device(outputs.back().at(), MPI_INT, kCount, k % size);
    }
    requests.push_back(start(call, k % 2 == 1 ? "chain:segment=256" : "ring"));
  }
  ASSERT_TRUE(has_devices());
  for (int k = 0; k < kRequests; ++k)
    wait_for(requests[static_cast<std::size_t>((k * 37 + 11 * rank) % kRequests)]);
  for (int k = 0; k < kRequests; ++k) {
    SCOPED_TRACE(k);
    Ints expected(kCount, k % 2 == 1 ? k : 1000 * size * (size - 1) / 2 + size * k);
    expected.push_back(k % 2 == 1 && rank == k % size ? k : -1);
    EXPECT_EQ(outputs[static_cast<std::size_t>(k)].get(), expected);
  }
}

// Each receives between the others' elements, and what it finds there is not its own.
TEST_F(RetainedTest, InterleavedOnADevice) {
  constexpr int kEach = 50, kTogether = 4;
  MPI_Datatype every_fourth = MPI_DATATYPE_NULL;
  MPI_Type_vector(kEach, 1, kTogether, MPI_INT, &every_fourth);
  MPI_Type_commit(&every_fourth);
  Ints all(kEach * kTogether);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = rank == 0 ? static_cast<int>(i) : -1;
  const OnDevice data(all);
  std::vector<std::shared_ptr<Request>> requests;
  for (int k = 0; k < kTogether; ++k)
    requests.push_back(start(bcast_on_device(data.at() + k, every_fourth, 1, 0), "binomial"));
  MPI_Type_free(&every_fourth);
  for (const auto& request : requests) wait_for(request);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(data.get()[i], static_cast<int>(i));
}

// Blocks of an MPI_Allgatherv with gaps between them, where something else comes meanwhile.
TEST_F(RetainedTest, BetweenBlocksOnADevice) {
  const auto ranks = static_cast<std::size_t>(size);
  Ints counts(ranks, 10), displs(ranks);
  for (std::size_t i = 0; i < ranks; ++i) displs[i] = 20 * static_cast<int>(i);
  const OnDevice mine(Ints(10, rank)), all(Ints(20 * ranks, -1));
  Call call{.collective = allgatherv, .sendbuf = mine.at(), .sendcount = 10};
  call.sendtype = call.recvtype = MPI_INT;
  call.recvbuf = all.at();
  call.recvcounts = counts.data();
  call.rdispls = displs.data();
  call.comm = comm;
  const auto request = start(call, "ring");
  counts.assign(ranks, -7);  // the program's again
  displs.assign(ranks, -7);
  all.put(Ints(20 * ranks, 5));
  wait_for(request);
  for (std::size_t i = 0; i < 20 * ranks; ++i)
    ASSERT_EQ(all.get()[i], i % 20 < 10 ? static_cast<int>(i / 20) : 5);
}

void largest(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i)
    static_cast<int*>(inout)[i] = std::max(static_cast<int*>(in)[i], static_cast<int*>(inout)[i]);
}
void nonsense(void*, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] = -99;
}

// Many are made afterwards, which would get the handle or the memory of one that is gone.
TEST_F(RetainedTest, AnOperationThatTheProgramFrees) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(largest, 1, &op);
  const MPI_Op before = op;
  Ints mine(400, 10 * rank), first(400), second(400);
  Call call = allreduce_of(mine, first);
  call.op = op;
  auto one = start(call, "ring");
  call.recvbuf = second.data();
  auto other = start(call, "recursive_doubling");
  g_freed = 0;
  EXPECT_EQ(MPI_Op_free(&op), MPI_SUCCESS);
  EXPECT_EQ(op, MPI_OP_NULL);
  std::vector<MPI_Op> others(50, MPI_OP_NULL);
  for (MPI_Op& another : others) {
    MPI_Op_create(nonsense, 1, &another);
    EXPECT_NE(another, before);
  }
  wait_for(one);
  one.reset();
  EXPECT_EQ(g_freed, 0);
  wait_for(other);
  other.reset();
  EXPECT_EQ(g_freed, 1);
  EXPECT_EQ(first, Ints(400, 10 * (size - 1)));
  EXPECT_EQ(second, first);
  for (MPI_Op& another : others) EXPECT_EQ(MPI_Op_free(&another), MPI_SUCCESS);
}

TEST_F(RetainedTest, OtherOperationsAreFreedAtOnce) {
  MPI_Op used = MPI_OP_NULL, unused = MPI_OP_NULL;
  MPI_Op_create(largest, 1, &used);
  MPI_Op_create(largest, 1, &unused);
  {
    const RetainedOperation one(used), predefined(MPI_SUM), none(MPI_OP_NULL);
    EXPECT_FALSE(frees_later(unused));
    EXPECT_FALSE(frees_later(MPI_SUM));
    EXPECT_FALSE(frees_later(MPI_OP_NULL));
    EXPECT_EQ(MPI_Op_free(&unused), MPI_SUCCESS);
  }
  EXPECT_FALSE(frees_later(used));  // and is still the program's
  EXPECT_EQ(MPI_Op_free(&used), MPI_SUCCESS);
}

}  // namespace
}  // namespace unisono

// Before the MPI library's.
extern "C" __attribute__((visibility("default"))) int PMPI_Op_free(MPI_Op* op) {
  static auto* const next = reinterpret_cast<int (*)(MPI_Op*)>(dlsym(RTLD_NEXT, "PMPI_Op_free"));
  ++unisono::g_freed;
  return next(op);
}
