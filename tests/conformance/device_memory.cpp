// Buffers in the memory of a device, on all ranks, on some, for input or output only: the results
// are right, and nobody touches the memory but the driver (stub_cuda.cpp, stub_level_zero.cpp), or
// the program would end.
//
//   mpiexec -n P device_memory
#include <cstdint>
#include <iterator>

#include "check.h"

extern "C" {
void* stub_device_allocate(std::size_t bytes);
int stub_device_copies();
std::size_t stub_device_written();
bool stub_device_read(void* to, std::uintptr_t from, std::size_t bytes);
bool stub_device_write(std::uintptr_t to, const void* from, std::size_t bytes);
int zeInit(std::uint32_t flags) __attribute__((weak));
}

namespace {

constexpr int kMost = 1 << 14;  // numbers for each rank

/// Numbers that are on a device or not.
class Buffer {
 public:
  explicit Buffer(std::size_t many)
      : host_(many), device_(stub_device_allocate(many * sizeof(int))) {
    CHECK(device_ != nullptr);
  }
  int* put(bool on_device, std::vector<int> values) {
    values.resize(host_.size(), -1);
    host_.assign(values.begin(), values.end());  // where it was
    on_device_ = on_device;
    if (on_device) CHECK(stub_device_write(at(), host_.data(), host_.size() * sizeof(int)));
    return on_device ? static_cast<int*>(device_) : host_.data();
  }
  const std::vector<int>& get() {
    if (on_device_) CHECK(stub_device_read(host_.data(), at(), host_.size() * sizeof(int)));
    return host_;
  }

 private:
  std::uintptr_t at() const { return reinterpret_cast<std::uintptr_t>(device_); }
  std::vector<int> host_;
  void* device_;
  bool on_device_ = false;
};

struct Where {
  bool input, output;
};

std::vector<int> filled(int count, int value) {
  return std::vector<int>(static_cast<std::size_t>(count), value);
}

bool holds(const std::vector<int>& values, int begin, int count, int value) {
  for (int i = begin; i < begin + count; ++i)
    if (values[static_cast<std::size_t>(i)] != value) return false;
  return true;
}

/// One count and one place for the buffers. Every rank is the number of its data; the last is root.
class Case {
 public:
  Case(Buffer& in, Buffer& out, int count, Where where)
      : in_(in), out_(out), count_(count), where_(where) {}

  void vectors() {
    int* data = out_.put(where_.output, filled(count_, me_ == root_ ? 7 : -1));
    MPI_Bcast(data, count_, MPI_INT, root_, comm_);
    CHECK(holds(out_.get(), 0, count_, 7));
    const int* from = in_.put(where_.input, filled(count_, me_));
    MPI_Gather(from, count_, MPI_INT, output(), count_, MPI_INT, root_, comm_);
    CHECK(me_ != root_ || gathered());
    MPI_Allgather(from, count_, MPI_INT, output(), count_, MPI_INT, comm_);
    CHECK(gathered());
    int* to = out_.put(where_.output, filled(count_ * p_, me_));  // this rank's block is there
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, to, count_, MPI_INT, comm_);
    CHECK(gathered());
  }

  void reductions() {
    const int sum = p_ * (p_ - 1) / 2;
    const int* from = in_.put(where_.input, filled(count_, me_));
    MPI_Allreduce(from, output(), count_, MPI_INT, MPI_SUM, comm_);
    CHECK(holds(out_.get(), 0, count_, sum));
    int* to = out_.put(where_.output, filled(count_, me_));
    MPI_Allreduce(MPI_IN_PLACE, to, count_, MPI_INT, MPI_SUM, comm_);
    CHECK(holds(out_.get(), 0, count_, sum));
    MPI_Reduce(from, output(), count_, MPI_INT, MPI_SUM, root_, comm_);
    CHECK(me_ != root_ || holds(out_.get(), 0, count_, sum));
    MPI_Scan(from, output(), count_, MPI_INT, MPI_SUM, comm_);
    CHECK(holds(out_.get(), 0, count_, me_ * (me_ + 1) / 2));
  }

  /// What counts is what the buffer holds at each start.
  void persistent() {
    const int sum = p_ * (p_ - 1) / 2;
    const int* from = in_.put(where_.input, filled(count_, -1));
    int* to = output();
    MPI_Request request;
    MPI_Allreduce_init(from, to, count_, MPI_INT, MPI_SUM, comm_, MPI_INFO_NULL, &request);
    for (const int more : {0, 5}) {
      in_.put(where_.input, filled(count_, me_ + more));
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK(holds(out_.get(), 0, count_, sum + more * p_));
    }
    MPI_Request_free(&request);
  }

  void blocks() {
    std::vector<int> values, counts = filled(p_, count_), displs;
    for (int i = 0; i < p_; ++i) {
      values.insert(values.end(), static_cast<std::size_t>(count_), i);
      displs.push_back(i * count_);
    }
    const int* from = in_.put(where_.input, values);
    MPI_Scatter(from, count_, MPI_INT, output(), count_, MPI_INT, root_, comm_);
    CHECK(holds(out_.get(), 0, count_, me_));
    MPI_Alltoall(from, count_, MPI_INT, output(), count_, MPI_INT, comm_);
    CHECK(holds(out_.get(), 0, count_ * p_, me_));
    MPI_Reduce_scatter_block(from, output(), count_, MPI_INT, MPI_SUM, comm_);
    CHECK(holds(out_.get(), 0, count_, p_ * me_));
    MPI_Alltoallv(from, counts.data(), displs.data(), MPI_INT, output(), counts.data(),
                  displs.data(), MPI_INT, comm_);
    CHECK(holds(out_.get(), 0, count_ * p_, me_));
    MPI_Reduce_scatter(from, output(), counts.data(), MPI_INT, MPI_SUM, comm_);
    CHECK(holds(out_.get(), 0, count_, p_ * me_));
  }

  /// Every second number; those between stay as they are.
  void gaps() {
    MPI_Datatype second;
    MPI_Type_vector(count_ / 2, 1, 2, MPI_INT, &second);
    MPI_Type_commit(&second);
    int* to = out_.put(where_.output, filled(count_, me_ == root_ ? 9 : 3));
    const std::size_t before = stub_device_written();
    MPI_Bcast(to, 1, second, root_, comm_);
    // Not a byte of those between: another thread may be receiving them.
    const auto own = static_cast<std::size_t>(count_ / 2) * sizeof(int);
    CHECK(stub_device_written() - before == (where_.output && me_ != root_ ? own : 0));
    MPI_Type_free(&second);
    for (int i = 0; i < count_ / 2 * 2; ++i)
      CHECK(out_.get()[static_cast<std::size_t>(i)] == (me_ == root_ || i % 2 == 0 ? 9 : 3));
  }

 private:
  int* output() { return out_.put(where_.output, {}); }
  bool gathered() {
    for (int i = 0; i < p_; ++i)
      if (!holds(out_.get(), i * count_, count_, i)) return false;
    return true;
  }

  MPI_Comm comm_ = MPI_COMM_WORLD;
  int me_ = conformance::rank_in(comm_), p_ = conformance::size_of(comm_), root_ = p_ - 1;
  Buffer& in_;
  Buffer& out_;
  int count_;
  Where where_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = conformance::rank_in(MPI_COMM_WORLD), p = conformance::size_of(MPI_COMM_WORLD);
  conformance::force_all();
  const auto many = static_cast<std::size_t>(kMost) * static_cast<std::size_t>(p);
  int total = -1;
  MPI_Allreduce(&me, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(total == p * (p - 1) / 2);
  if (zeInit != nullptr) CHECK(zeInit(0) == 0);  // only now, for which no library is loaded
  Buffer in(many), out(many);
  unsigned long long rounds = 0;
  const Where places[] = {{true, true},   {true, false},      {false, true},
                          {false, false}, {me == 0, me == 0}, {me == 1, me == 0}};
  for (const int count : {2, 1000, kMost})
    for (int twice = 0; twice < 2; ++twice)  // the second time on the fast path
      for (const Where where : places) {
        Case test(in, out, count, where);
        test.vectors();
        test.reductions();
        test.blocks();
        test.gaps();
        ++rounds;
      }
  // By messages: the MPI library's own could not touch the memory.
  conformance::force("allreduce", "recursive_doubling");
  for (const Where where : places) Case(in, out, 1000, where).persistent();
  CHECK(stub_device_copies() > 0);
  conformance::passed("device_memory", 14 * rounds + std::size(places), conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
