// Ranks that call different collectives, or one with different sizes or roots, within a node: an
// error of the calls that see it, and never another rank's data.
//
//   mpiexec -n 2 ranks_disagree BYTES | roots | long-root | collectives
//
// Of this one all ranks are to be told:
//
//   mpiexec -n 3 ranks_disagree allreduce
//
// Here nobody waits for the root, which finds the difference when the others are some calls ahead:
//
//   mpiexec -n 2 ranks_disagree ahead
//
// And here the root waits in the next call, which both can make all the same:
//
//   mpiexec -n 2 ranks_disagree waits | persistent
//
// And rank 0 sends shorter blocks than all receive, which MPI forbids, and the MPI libraries do:
//
//   mpiexec -n 2 ranks_disagree short-allgather | short-allgatherv | short-alltoall |
//   short-scatter | short-gather
//
// The same in the first call of a communicator, before its ranks share memory:
//
//   mpiexec -n 2 ranks_disagree first-allgather | first-scatter | first-alltoall
//
// And a call whose arguments are wrong on rank 0, which the MPI library refuses there: rank 1 does
// not wait for it, and the communicator can be used again.
//
//   mpiexec -n 2 ranks_disagree refused-gatherv | refused-igatherv | refused-allgather |
//   refused-exscan
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "check.h"

namespace {

using conformance::class_of;

int waited(int code, MPI_Request* request) {
  return code != MPI_SUCCESS ? code : MPI_Wait(request, MPI_STATUS_IGNORE);
}

/// Of rank 1, whose arguments are right: its code.
int make_refused(const std::string& what, int rank, MPI_Comm comm) {
  constexpr int kCount = 1 << 18;  // more than a rank can give before the root is there
  std::vector<int> from(kCount, rank), to(2 * kCount);
  const std::vector<int> counts(2, kCount), displs{0, kCount};
  MPI_Request request = MPI_REQUEST_NULL;
  const auto gatherv = [&](auto call, void* into, auto... more) {
    return call(from.data(), kCount, MPI_INT, into, counts.data(), displs.data(), MPI_INT, 0, comm,
                more...);
  };
  if (rank == 1) {
    if (what == "refused-gatherv") return gatherv(MPI_Gatherv, nullptr);
    if (what == "refused-igatherv")
      return waited(gatherv(MPI_Igatherv, nullptr, &request), &request);
    if (what == "refused-exscan")
      return MPI_Exscan(from.data(), to.data(), kCount, MPI_INT, MPI_SUM, comm);
    return MPI_Allgather(from.data(), kCount, MPI_INT, to.data(), kCount, MPI_INT, comm);
  }
  if (what == "refused-gatherv")
    REFUSED(Gatherv(from.data(), kCount, MPI_INT, MPI_IN_PLACE, counts.data(), displs.data(),
                    MPI_INT, 0, comm));
  else if (what == "refused-igatherv")
    REFUSED(Igatherv(from.data(), kCount, MPI_INT, MPI_IN_PLACE, counts.data(), displs.data(),
                     MPI_INT, 0, comm, &request));
#ifdef MPICH_NAME  // Open MPI does not look at these
  else if (what == "refused-exscan")
    REFUSED(Exscan(from.data(), MPI_IN_PLACE, kCount, MPI_INT, MPI_SUM, comm));
  else
    REFUSED(Allgather(to.data(), kCount, MPI_INT, to.data(), kCount, MPI_INT, comm));
#endif
  return MPI_SUCCESS;
}

/// Twice, the second time by what is left of Unisono there.
void refuse(const std::string& what, int rank) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const auto sum_of_ones = [&] {
    const int one = 1;
    int sum = 0;
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    return sum;
  };
  std::vector<int> all(4);
  const unsigned long long before = conformance::own_calls();
  for (int i = 0; i < 20; ++i) {
    CHECK(sum_of_ones() == 2);
    const std::vector<int> counts(2, 1), displs{0, 1};
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK(MPI_Gatherv(&i, 1, MPI_INT, all.data(), counts.data(), displs.data(), MPI_INT, 0, comm) ==
          MPI_SUCCESS);
    CHECK(MPI_Igatherv(&i, 1, MPI_INT, all.data(), counts.data(), displs.data(), MPI_INT, 0, comm,
                       &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Exscan(&i, all.data(), 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
  }
  // But for what does not block before there is a duplicate. So the refused one would run there.
  if (conformance::has_unisono()) CHECK(conformance::own_calls() - before >= 4 * 20 - 1);
  const int code = make_refused(what, rank, comm);
  if (rank == 1) CHECK(code != MPI_SUCCESS);
  for (int i = 0; i < 3; ++i) CHECK(sum_of_ones() == 2);
  MPI_Comm_free(&comm);
}

/// Ints that end where no more memory may be read.
class Guarded {
 public:
  explicit Guarded(std::size_t count) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* memory =
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED &&
          mprotect(static_cast<char*>(memory) + page, page, PROT_NONE) == 0);
    data = reinterpret_cast<int*>(static_cast<char*>(memory) + page) - count;
  }
  int* data;
};

/// Twice: what follows most of them is the MPI library's. `first`: no right call is made before.
void send_shorter(const std::string& what, int rank, bool first) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  constexpr int kRoom = 50;
  const int sent = rank == 0 ? 10 : kRoom;
  const bool cuts = what == "alltoall" || what == "scatter";
  const auto length = static_cast<std::size_t>(sent * (cuts ? 2 : 1));
  const Guarded from(length);
  for (std::size_t i = 0; i < length; ++i)
    from.data[i] = 1000 * rank + static_cast<int>(i) / (cuts ? sent : kRoom);
  std::vector<int> to;
  const auto call = [&](const void* data, int count) {
    to.assign(2 * kRoom, -1);
    if (what == "allgather")
      return MPI_Allgather(data, count, MPI_INT, to.data(), kRoom, MPI_INT, comm);
    if (what == "allgatherv") {
      const std::vector<int> counts(2, kRoom), displs{0, kRoom};
      return MPI_Allgatherv(data, count, MPI_INT, to.data(), counts.data(), displs.data(), MPI_INT,
                            comm);
    }
    if (what == "alltoall")
      return MPI_Alltoall(data, count, MPI_INT, to.data(), kRoom, MPI_INT, comm);
    if (what == "gather")
      return MPI_Gather(data, count, MPI_INT, to.data(), kRoom, MPI_INT, 0, comm);
    return MPI_Scatter(data, count, MPI_INT, to.data(), kRoom, MPI_INT, 0, comm);
  };
  if (!first) {  // such calls are Unisono's
    const std::vector<int> right(2 * kRoom, rank);
    const unsigned long long before = conformance::own_calls();
    CHECK(call(right.data(), kRoom) == MPI_SUCCESS);
    if (conformance::has_unisono()) CHECK(conformance::own_calls() == before + 1);
  }
  for (int i = 0; i < 2; ++i) {
    CHECK(call(from.data, sent) == MPI_SUCCESS);
    if (what == "gather" && rank != 0) continue;
    CHECK(to[0] == (cuts ? rank : 0) && to[9] == to[0]);
    if (what != "gather") CHECK(to[10] == -1);
    if (what != "scatter") CHECK(to[kRoom] == 1000 + (cuts ? rank : 0));
  }
  MPI_Comm_free(&comm);
}

struct Ended {
  int code, expected;  ///< classes, on rank 1 at least
};

/// What the other rank has completed meanwhile is an error on the root; what follows is the MPI
/// library's.
void reduce_ahead(int rank) {
  constexpr int kCount = 10, kCalls = 30, kMostAhead = 10;
  std::vector<int> from(kCount, 1), sums(kCount);
  const auto reduce = [&](int count) {
    return class_of(
        MPI_Reduce(from.data(), sums.data(), count, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
  };
  if (rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const int code = reduce(rank == 0 ? kCount : 1);
  if (rank == 0) CHECK(code == MPI_ERR_TRUNCATE);
  int failed = 0;
  for (int i = 0; i < kCalls; ++i) {
    if (reduce(kCount) == MPI_SUCCESS) continue;
    if (rank == 0) CHECK(failed == i);  // none after one that has been right
    CHECK(++failed <= kMostAhead);
  }
  if (rank == 0) CHECK(sums == std::vector<int>(kCount, 2));
}

/// The root waits in the first one, and has not heard of the error before.
void reduce_after(int rank) {
  for (int i = 1; i < 10; ++i) {
    int sum = -1;
    CHECK(MPI_Reduce(&i, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    if (rank == 0) CHECK(sum == 2 * i);
  }
}

/// The same where ranks ask each other before a request is made.
void start_after() {
  const int one = 1;
  int sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK(MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &request) == MPI_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    sum = 0;
    CHECK(MPI_Start(&request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && sum == 2);
  }
  MPI_Request_free(&request);
}

/// `data`: 16 MB, of which a rank that must not get another's data keeps its own.
Ended make_differing(const std::string& what, int rank, std::vector<char>& data) {
  const MPI_Comm world = MPI_COMM_WORLD;
  std::vector<char> other(32, 'y');
  const auto allgather = [&] {
    return MPI_Allgather(data.data(), 8, MPI_CHAR, other.data(), 8, MPI_CHAR, world);
  };
  const auto bcast = [&](std::size_t of_root, int of_others) {
    const int bytes = rank == 0 ? static_cast<int>(of_root) : of_others;
    return class_of(MPI_Bcast(data.data(), bytes, MPI_CHAR, 0, world));
  };
  if (what.rfind("refused", 0) == 0) {
    refuse(what, rank);
    return {MPI_SUCCESS, MPI_SUCCESS};
  }
  const bool first = what.rfind("first-", 0) == 0;
  if (first || what.rfind("short-", 0) == 0) {
    send_shorter(what.substr(6), rank, first);
    return {MPI_SUCCESS, MPI_SUCCESS};
  }
  if (what == "ahead") {
    reduce_ahead(rank);
    return {MPI_SUCCESS, MPI_SUCCESS};
  }
  if (what == "waits" || what == "persistent") {
    if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const int code = bcast(8, 16);
    if (what == "waits")
      reduce_after(rank);
    else
      start_after();
    return {code, MPI_ERR_TRUNCATE};
  }
  if (what == "roots") {
    MPI_Bcast(data.data(), 8, MPI_CHAR, rank, world);  // nobody waits for anybody
    return {class_of(allgather()), MPI_ERR_OTHER};
  }
  if (what == "collectives")
    return {class_of(rank == 0 ? MPI_Barrier(world) : allgather()), MPI_ERR_OTHER};
  if (what == "long-root") {
    // The root waits for the other rank, which has found out and left.
    const int code = bcast(data.size(), 8);
    CHECK(code == MPI_ERR_TRUNCATE);
    return {code, MPI_ERR_TRUNCATE};
  }
  if (what == "allreduce") {
    // The first long one: rank 0's fits into a cell, and the others make room for theirs before.
    std::vector<int> from(50), to(50);
    if (rank != 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const int code = class_of(
        MPI_Allreduce(from.data(), to.data(), rank == 0 ? 1 : 50, MPI_INT, MPI_SUM, world));
    CHECK(code == MPI_ERR_TRUNCATE);
    return {code, MPI_ERR_TRUNCATE};
  }
  return {bcast(8, std::stoi(what)), MPI_ERR_TRUNCATE};
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = conformance::rank_in(MPI_COMM_WORLD);
  const std::string what = argc > 1 ? argv[1] : "16";
  for (const char* collective :
       {"bcast", "allreduce", "reduce", "barrier", "allgather", "allgatherv", "gather", "gatherv",
        "exscan", "alltoall", "scatter"})
    conformance::force(collective, "shm");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  std::vector<char> data(16 << 20, 'x');
  const int right = what == "allreduce" ? 1 : 100;
  for (int i = 0; i < right; ++i) {  // many of them in the memory of the node
    const int one = 1;
    int sum = 0;
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(sum == conformance::size_of(MPI_COMM_WORLD));
    CHECK(MPI_Bcast(data.data(), 8, MPI_CHAR, i % 2, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
  }
  std::fill(data.begin(), data.end(), static_cast<char>('x' + rank));
  const auto [code, expected] = make_differing(what, rank, data);
  // Who only sends need not see it.
  if (rank == 1) {
    CHECK(code == expected);
    CHECK(data == std::vector<char>(data.size(), 'x' + 1));
  }
  int seen = 0;
  if (rank < 2)
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 0, &seen, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  conformance::passed("ranks_disagree", 3ULL * static_cast<unsigned>(right),
                      conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
