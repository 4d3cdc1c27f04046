// Nonblocking collectives that Unisono runs: each against MPI_Xxx's own result, many in flight,
// completed in every way and in another order than they were started, while ranks wait for
// something else. Odd ranks call the large-count forms, which match the others. With `threads` two
// threads do so at once, each on a communicator of its own.
//
//   mpiexec -n P nonblocking [threads]
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <thread>

#include "check.h"

namespace {

using conformance::rank_in;
using conformance::size_of;
using Ints = std::vector<int>;

constexpr int kCount = 1000;
constexpr int kMany = 300;  // in flight

Ints numbers(int from, int count) {
  Ints all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), from);
  return all;
}

/// MPI_Iname_c, which the MPI library need not have. Arguments as it declares them.
template <class... Arguments>
void large(const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(RTLD_DEFAULT, name));
  CHECK(function(arguments...) == MPI_SUCCESS);
}
bool has_large() { return dlsym(RTLD_DEFAULT, "MPI_Ialltoallw_c") != nullptr; }

/// Everything there is, started at once: its buffers, and what must be in them.
struct All {
  MPI_Comm comm;
  int me, p, root;
  Ints counts, displs, same, at, bytes, mine, wide;  // the calls read them until they are over
  std::array<Ints, 16> into;
  std::vector<MPI_Request> requests;
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Count> large_counts, large_same;
  std::vector<MPI_Aint> large_displs, large_at, large_bytes;

  All(MPI_Comm over, int who)
      : comm(over), me(rank_in(over)), p(size_of(over)), root(who % size_of(over)) {
    int total = 0;
    for (int r = 0; r < p; ++r) {
      same.push_back(kCount);
      at.push_back(r * kCount);
      bytes.push_back(r * kCount * static_cast<int>(sizeof(int)));
      counts.push_back(kCount + r);
      displs.push_back(total);
      total += kCount + r;
    }
    mine = numbers(1000 * me, kCount + me);
    wide = numbers(me, kCount * p + p * p);
    for (Ints& one : into) one.assign(static_cast<std::size_t>(total), -1);
    types.assign(static_cast<std::size_t>(p), MPI_INT);
    large_counts.assign(counts.begin(), counts.end());
    large_same.assign(same.begin(), same.end());
    large_displs.assign(displs.begin(), displs.end());
    large_at.assign(at.begin(), at.end());
    large_bytes.assign(bytes.begin(), bytes.end());
  }
  MPI_Request* next() {
    requests.push_back(MPI_REQUEST_NULL);
    return &requests.back();
  }
  void start() {
    requests.reserve(17);
    MPI_Ibarrier(comm, next());
    if (me == root) into[0] = numbers(root, kCount);
    if (me % 2 == 1 && has_large())
      start_large();
    else
      start_plain();
  }
  void start_large() {
    const MPI_Count one = kCount, own = kCount + me;
    const auto to = [this](std::size_t which) { return into[which].data(); };
    MPI_Count* const blocks = large_counts.data();
    MPI_Count* const equal = large_same.data();
    MPI_Aint* const behind = large_displs.data();
    large("MPI_Ibcast_c", to(0), one, MPI_INT, root, comm, next());
    large("MPI_Igather_c", mine.data(), one, MPI_INT, to(1), one, MPI_INT, root, comm, next());
    large("MPI_Igatherv_c", mine.data(), own, MPI_INT, to(2), blocks, behind, MPI_INT, root, comm,
          next());
    large("MPI_Iscatter_c", wide.data(), one, MPI_INT, to(3), one, MPI_INT, root, comm, next());
    large("MPI_Iscatterv_c", wide.data(), blocks, behind, MPI_INT, to(4), own, MPI_INT, root, comm,
          next());
    large("MPI_Iallgather_c", mine.data(), one, MPI_INT, to(5), one, MPI_INT, comm, next());
    large("MPI_Iallgatherv_c", mine.data(), own, MPI_INT, to(6), blocks, behind, MPI_INT, comm,
          next());
    large("MPI_Ialltoall_c", wide.data(), one, MPI_INT, to(7), one, MPI_INT, comm, next());
    large("MPI_Ialltoallv_c", wide.data(), equal, large_at.data(), MPI_INT, to(8), equal,
          large_at.data(), MPI_INT, comm, next());
    large("MPI_Ialltoallw_c", wide.data(), equal, large_bytes.data(), types.data(), to(9), equal,
          large_bytes.data(), types.data(), comm, next());
    large("MPI_Ireduce_c", mine.data(), to(10), one, MPI_INT, MPI_SUM, root, comm, next());
    large("MPI_Iallreduce_c", mine.data(), to(11), one, MPI_INT, MPI_SUM, comm, next());
    large("MPI_Ireduce_scatter_block_c", wide.data(), to(12), one, MPI_INT, MPI_SUM, comm, next());
    large("MPI_Ireduce_scatter_c", wide.data(), to(13), blocks, MPI_INT, MPI_SUM, comm, next());
    large("MPI_Iscan_c", mine.data(), to(14), one, MPI_INT, MPI_SUM, comm, next());
    large("MPI_Iexscan_c", mine.data(), to(15), one, MPI_INT, MPI_SUM, comm, next());
  }
  void start_plain() {
    MPI_Ibcast(into[0].data(), kCount, MPI_INT, root, comm, next());
    MPI_Igather(mine.data(), kCount, MPI_INT, into[1].data(), kCount, MPI_INT, root, comm, next());
    MPI_Igatherv(mine.data(), kCount + me, MPI_INT, into[2].data(), counts.data(), displs.data(),
                 MPI_INT, root, comm, next());
    MPI_Iscatter(wide.data(), kCount, MPI_INT, into[3].data(), kCount, MPI_INT, root, comm, next());
    MPI_Iscatterv(wide.data(), counts.data(), displs.data(), MPI_INT, into[4].data(), kCount + me,
                  MPI_INT, root, comm, next());
    MPI_Iallgather(mine.data(), kCount, MPI_INT, into[5].data(), kCount, MPI_INT, comm, next());
    MPI_Iallgatherv(mine.data(), kCount + me, MPI_INT, into[6].data(), counts.data(), displs.data(),
                    MPI_INT, comm, next());
    MPI_Ialltoall(wide.data(), kCount, MPI_INT, into[7].data(), kCount, MPI_INT, comm, next());
    MPI_Ialltoallv(wide.data(), same.data(), at.data(), MPI_INT, into[8].data(), same.data(),
                   at.data(), MPI_INT, comm, next());
    MPI_Ialltoallw(wide.data(), same.data(), bytes.data(), types.data(), into[9].data(),
                   same.data(), bytes.data(), types.data(), comm, next());
    MPI_Ireduce(mine.data(), into[10].data(), kCount, MPI_INT, MPI_SUM, root, comm, next());
    MPI_Iallreduce(mine.data(), into[11].data(), kCount, MPI_INT, MPI_SUM, comm, next());
    MPI_Ireduce_scatter_block(wide.data(), into[12].data(), kCount, MPI_INT, MPI_SUM, comm, next());
    MPI_Ireduce_scatter(wide.data(), into[13].data(), counts.data(), MPI_INT, MPI_SUM, comm,
                        next());
    MPI_Iscan(mine.data(), into[14].data(), kCount, MPI_INT, MPI_SUM, comm, next());
    MPI_Iexscan(mine.data(), into[15].data(), kCount, MPI_INT, MPI_SUM, comm, next());
  }
  void see() const {
    const int k = 7;  // any element
    const auto value = [&](int which, int at) {
      return into[static_cast<std::size_t>(which)][static_cast<std::size_t>(at)];
    };
    CHECK(value(0, k) == root + k);
    for (int r = 0; r < p; ++r) {
      const int begin = displs[static_cast<std::size_t>(r)];
      if (me == root) CHECK(value(1, r * kCount + k) == 1000 * r + k);
      if (me == root) CHECK(value(2, begin + k) == 1000 * r + k);
      CHECK(value(5, r * kCount + k) == 1000 * r + k);
      CHECK(value(6, begin + kCount + r - 1) == 1000 * r + kCount + r - 1);
      for (const int which : {7, 8, 9}) CHECK(value(which, r * kCount + k) == r + me * kCount + k);
    }
    const int of_all = p * (p - 1) / 2, upto = me * (me + 1) / 2;
    CHECK(value(3, k) == root + me * kCount + k);
    CHECK(value(4, k) == root + displs[static_cast<std::size_t>(me)] + k);
    if (me == root) CHECK(value(10, k) == 1000 * of_all + p * k);
    CHECK(value(11, k) == 1000 * of_all + p * k);
    CHECK(value(12, k) == of_all + p * (me * kCount + k));
    CHECK(value(13, k) == of_all + p * (displs[static_cast<std::size_t>(me)] + k));
    CHECK(value(14, k) == 1000 * upto + (me + 1) * k);
    CHECK(me == 0 || value(15, k) == 1000 * (upto - me) + me * k);
  }
};

/// Each function that completes a request.
void complete(std::vector<MPI_Request>& requests, int way) {
  const int count = static_cast<int>(requests.size());
  std::vector<int> which(requests.size());
  std::vector<MPI_Status> statuses(requests.size());
  int flag = 0, done = 0, one = 0;
  switch (way) {
    case 0: MPI_Waitall(count, requests.data(), statuses.data()); break;
    case 1:
      for (int i = count - 1; i >= 0; --i)
        MPI_Wait(&requests[static_cast<std::size_t>(i)], MPI_STATUS_IGNORE);
      break;
    case 2:
      while (flag == 0) MPI_Testall(count, requests.data(), &flag, MPI_STATUSES_IGNORE);
      break;
    case 3:
      for (int i = 0; i < count; ++i) MPI_Waitany(count, requests.data(), &one, MPI_STATUS_IGNORE);
      break;
    case 4:
      for (int left = count; left > 0; left -= done)
        MPI_Waitsome(count, requests.data(), &done, which.data(), statuses.data());
      break;
    case 5:
      for (int left = count; left > 0; left -= done) {
        MPI_Testsome(count, requests.data(), &done, which.data(), statuses.data());
        done = std::max(done, 0);
      }
      break;
    case 6:
      for (MPI_Request& request : requests) {
        for (flag = 0; flag == 0;) MPI_Request_get_status(request, &flag, &statuses[0]);
        MPI_Test(&request, &flag, &statuses[0]);
        CHECK(flag != 0);
      }
      break;
    default:
      for (int left = count; left > 0; left -= flag) {
        MPI_Testany(count, requests.data(), &one, &flag, MPI_STATUS_IGNORE);
        CHECK(flag == 0 || one != MPI_UNDEFINED);
      }
  }
  for (const MPI_Request request : requests) CHECK(request == MPI_REQUEST_NULL);
}

/// Of a kind all in flight at once, and messages of the program between them.
void many(MPI_Comm comm) {
  const int me = rank_in(comm), p = size_of(comm);
  std::vector<Ints> in(kMany, numbers(me, 100)), out(kMany, Ints(100));
  std::vector<MPI_Request> requests(kMany + 2, MPI_REQUEST_NULL);
  for (int i = 0; i < kMany; ++i) {
    const auto n = static_cast<std::size_t>(i);
    MPI_Iallreduce(in[n].data(), out[n].data(), 100, MPI_INT, MPI_MAX, comm, &requests[n]);
  }
  int sent = me, got = -1;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[kMany]);
  MPI_Isend(&sent, 1, MPI_INT, (me + 1) % p, 7, comm, &requests[kMany + 1]);
  complete(requests, me % 8);  // not alike on all ranks
  CHECK(got == (me + p - 1) % p);
  for (const Ints& one : out) CHECK(one[50] == p - 1 + 50);
}

/// A rank between others waits for a message that comes only after the collective is over.
void others_wait(MPI_Comm comm) {
  const int me = rank_in(comm), p = size_of(comm);
  Ints data(50000, me);
  MPI_Request request;
  MPI_Ibcast(data.data(), 50000, MPI_INT, 0, comm, &request);
  int token = 0;
  if (me == p - 1) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = 0; r < p - 1; ++r) MPI_Send(&token, 1, MPI_INT, r, 3, comm);
  } else {
    MPI_Recv(&token, 1, MPI_INT, p - 1, 3, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  CHECK(data[49999] == 0);
}

/// On a communicator on which Unisono cannot run them yet: the MPI library does.
void passed_on(MPI_Comm over) {
  MPI_Comm comm;
  MPI_Comm_dup(over, &comm);
  All all(comm, 0);
  all.start();
  complete(all.requests, 4);
  all.see();
  MPI_Comm_free(&comm);
}

/// A datatype's attribute: nobody may ask for a copy of it, which could fail.
int g_copied = 0, g_deleted = 0;
int copy_attribute(MPI_Datatype, int, void*, void*, void*, int*) {
  ++g_copied;
  return MPI_ERR_OTHER;
}
int delete_attribute(MPI_Datatype, int, void*, void*) {
  ++g_deleted;
  return MPI_SUCCESS;
}

/// What a call must not name is its own error, not that of who waits for it.
void refused(MPI_Comm over) {
  MPI_Comm comm;
  MPI_Comm_dup(over, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(comm);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);  // and not committed
  Ints data(200);
  const int code = MPI_Ibcast(data.data(), 100, pair, 0, comm, &request);
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  CHECK(error_class == MPI_ERR_TYPE);
  MPI_Type_free(&pair);
}

/// What is named in a call may be freed at once.
void freed(MPI_Comm over) {
  MPI_Comm comm;
  MPI_Comm_dup(over, &comm);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  int key = MPI_KEYVAL_INVALID;
  MPI_Type_create_keyval(copy_attribute, delete_attribute, &key, nullptr);
  MPI_Type_set_attr(pair, key, nullptr);
  MPI_Type_free_keyval(&key);
  Ints data = numbers(rank_in(comm), 200);
  MPI_Barrier(comm);
  MPI_Request request;
  MPI_Ibcast(data.data(), 100, pair, 0, comm, &request);
  MPI_Type_free(&pair);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(data[199] == 199);
  CHECK(g_copied == 0);
  MPI_Comm_dup(over, &comm);
  MPI_Comm_free(&comm);
  CHECK(g_deleted == 1);
}

void with_threads() {
  std::array<MPI_Comm, 2> comms;
  for (MPI_Comm& comm : comms) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Request request;
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
  }
  const auto work = [](MPI_Comm comm) {
    for (int round = 0; round < 5; ++round) {
      many(comm);
      others_wait(comm);
      All all(comm, round);
      all.start();
      complete(all.requests, round);
      all.see();
      MPI_Barrier(comm);
    }
  };
  std::thread other(work, comms[1]);
  work(comms[0]);
  other.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

/// How many were started.
int in_every_way(MPI_Comm comm) {
  int started = 0;
  for (int way = 0; way < 8; ++way) {
    std::vector<All> all;
    for (int root = 0; root < 3; ++root) all.emplace_back(comm, root);
    for (All& one : all) one.start();
    std::vector<MPI_Request> requests;
    for (All& one : all) requests.insert(requests.end(), one.requests.begin(), one.requests.end());
    started += static_cast<int>(requests.size());
    complete(requests, way);
    for (const All& one : all) one.see();
  }
  return started;
}

}  // namespace

int main(int argc, char** argv) {
  const bool threads = argc > 1 && std::string(argv[1]) == "threads";
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  conformance::force_all();
  // The first one asks for a duplicate, and the next call that waits makes it.
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  const unsigned long long before = conformance::own_calls();
  int started = in_every_way(MPI_COMM_WORLD);
  many(MPI_COMM_WORLD);
  others_wait(MPI_COMM_WORLD);
  started += kMany + 1;
  const unsigned long long own = conformance::own_calls() - before;
  if (conformance::has_unisono()) CHECK(own == static_cast<unsigned long long>(started));
  freed(MPI_COMM_WORLD);
  passed_on(MPI_COMM_WORLD);
  refused(MPI_COMM_WORLD);
  if (threads && provided == MPI_THREAD_MULTIPLE) with_threads();
  conformance::passed("nonblocking", 700, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
