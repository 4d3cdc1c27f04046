// All collectives of all ranks at once, as nonblocking calls or persistent requests.
#pragma once
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <string>
#include <vector>

#include "check.h"

namespace conformance {

using Ints = std::vector<int>;

constexpr int kCount = 1000;

inline Ints numbers(int from, int count) {
  Ints all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), from);
  return all;
}

/// A large-count form, which the MPI library need not have. Arguments as it declares them.
template <class... Arguments>
void call_large(const std::string& name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(RTLD_DEFAULT, name.c_str()));
  CHECK(function(arguments...) == MPI_SUCCESS);
}
inline bool has_large() { return dlsym(RTLD_DEFAULT, "MPI_Ialltoallw_c") != nullptr; }

/// Everything there is at once, nonblocking or persistent: its buffers, and what must be in them.
/// Odd ranks call the large-count forms, which match the others.
struct All {
  bool persistent;
  MPI_Comm comm;
  int me, p, root;
  Ints counts, displs, same, at, bytes, mine, wide;  // the calls read them until they are over
  std::array<Ints, 16> into;
  std::vector<MPI_Request> requests;
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Count> large_counts, large_same;
  std::vector<MPI_Aint> large_displs, large_at, large_bytes;

  All(MPI_Comm over, int who, bool is_persistent = false)
      : persistent(is_persistent),
        comm(over),
        me(rank_in(over)),
        p(size_of(over)),
        root(who % size_of(over)) {
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
    supply();
    call(MPI_Ibarrier, MPI_Barrier_init, comm);
    if (me % 2 == 1 && has_large())
      start_large();
    else
      start_plain();
  }
  void supply() {
    const Ints sent = numbers(root, kCount);
    if (me == root) std::copy(sent.begin(), sent.end(), into[0].begin());
  }
  template <class Start, class Make, class... Arguments>
  void call(Start start, Make make, Arguments... arguments) {
    if (persistent)
      make(arguments..., MPI_INFO_NULL, next());
    else
      start(arguments..., next());
  }
  /// `name`: as MPI_I... has it.
  template <class... Arguments>
  void large(const std::string& name, Arguments... arguments) {
    std::string capital = name;
    capital[0] = static_cast<char>(std::toupper(capital[0]));
    if (persistent)
      call_large("MPI_" + capital + "_init_c", arguments..., MPI_INFO_NULL, next());
    else
      call_large("MPI_I" + name + "_c", arguments..., next());
  }
  void start_large() {
    const MPI_Count one = kCount, own = kCount + me;
    const auto to = [this](std::size_t which) { return into[which].data(); };
    MPI_Count* const blocks = large_counts.data();
    MPI_Count* const equal = large_same.data();
    MPI_Aint* const behind = large_displs.data();
    large("bcast", to(0), one, MPI_INT, root, comm);
    large("gather", mine.data(), one, MPI_INT, to(1), one, MPI_INT, root, comm);
    large("gatherv", mine.data(), own, MPI_INT, to(2), blocks, behind, MPI_INT, root, comm);
    large("scatter", wide.data(), one, MPI_INT, to(3), one, MPI_INT, root, comm);
    large("scatterv", wide.data(), blocks, behind, MPI_INT, to(4), own, MPI_INT, root, comm);
    large("allgather", mine.data(), one, MPI_INT, to(5), one, MPI_INT, comm);
    large("allgatherv", mine.data(), own, MPI_INT, to(6), blocks, behind, MPI_INT, comm);
    large("alltoall", wide.data(), one, MPI_INT, to(7), one, MPI_INT, comm);
    large("alltoallv", wide.data(), equal, large_at.data(), MPI_INT, to(8), equal, large_at.data(),
          MPI_INT, comm);
    large("alltoallw", wide.data(), equal, large_bytes.data(), types.data(), to(9), equal,
          large_bytes.data(), types.data(), comm);
    large("reduce", mine.data(), to(10), one, MPI_INT, MPI_SUM, root, comm);
    large("allreduce", mine.data(), to(11), one, MPI_INT, MPI_SUM, comm);
    large("reduce_scatter_block", wide.data(), to(12), one, MPI_INT, MPI_SUM, comm);
    large("reduce_scatter", wide.data(), to(13), blocks, MPI_INT, MPI_SUM, comm);
    large("scan", mine.data(), to(14), one, MPI_INT, MPI_SUM, comm);
    large("exscan", mine.data(), to(15), one, MPI_INT, MPI_SUM, comm);
  }
  void start_plain() {
    call(MPI_Ibcast, MPI_Bcast_init, into[0].data(), kCount, MPI_INT, root, comm);
    call(MPI_Igather, MPI_Gather_init, mine.data(), kCount, MPI_INT, into[1].data(), kCount,
         MPI_INT, root, comm);
    call(MPI_Igatherv, MPI_Gatherv_init, mine.data(), kCount + me, MPI_INT, into[2].data(),
         counts.data(), displs.data(), MPI_INT, root, comm);
    call(MPI_Iscatter, MPI_Scatter_init, wide.data(), kCount, MPI_INT, into[3].data(), kCount,
         MPI_INT, root, comm);
    call(MPI_Iscatterv, MPI_Scatterv_init, wide.data(), counts.data(), displs.data(), MPI_INT,
         into[4].data(), kCount + me, MPI_INT, root, comm);
    call(MPI_Iallgather, MPI_Allgather_init, mine.data(), kCount, MPI_INT, into[5].data(), kCount,
         MPI_INT, comm);
    call(MPI_Iallgatherv, MPI_Allgatherv_init, mine.data(), kCount + me, MPI_INT, into[6].data(),
         counts.data(), displs.data(), MPI_INT, comm);
    call(MPI_Ialltoall, MPI_Alltoall_init, wide.data(), kCount, MPI_INT, into[7].data(), kCount,
         MPI_INT, comm);
    call(MPI_Ialltoallv, MPI_Alltoallv_init, wide.data(), same.data(), at.data(), MPI_INT,
         into[8].data(), same.data(), at.data(), MPI_INT, comm);
    call(MPI_Ialltoallw, MPI_Alltoallw_init, wide.data(), same.data(), bytes.data(), types.data(),
         into[9].data(), same.data(), bytes.data(), types.data(), comm);
    call(MPI_Ireduce, MPI_Reduce_init, mine.data(), into[10].data(), kCount, MPI_INT, MPI_SUM, root,
         comm);
    call(MPI_Iallreduce, MPI_Allreduce_init, mine.data(), into[11].data(), kCount, MPI_INT, MPI_SUM,
         comm);
    call(MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, wide.data(), into[12].data(),
         kCount, MPI_INT, MPI_SUM, comm);
    call(MPI_Ireduce_scatter, MPI_Reduce_scatter_init, wide.data(), into[13].data(), counts.data(),
         MPI_INT, MPI_SUM, comm);
    call(MPI_Iscan, MPI_Scan_init, mine.data(), into[14].data(), kCount, MPI_INT, MPI_SUM, comm);
    call(MPI_Iexscan, MPI_Exscan_init, mine.data(), into[15].data(), kCount, MPI_INT, MPI_SUM,
         comm);
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
inline void complete(std::vector<MPI_Request>& requests, int way, bool persistent = false) {
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
  for (const MPI_Request request : requests) CHECK((request == MPI_REQUEST_NULL) != persistent);
}

/// A rank between others waits for a message that comes only after the collective is over. `start`:
/// of a Bcast from rank 0.
template <class Start>
void others_wait(MPI_Comm comm, Start start) {
  const int me = rank_in(comm), p = size_of(comm);
  MPI_Request request = start();
  int token = 0;
  if (me == p - 1) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = 0; r < p - 1; ++r) MPI_Send(&token, 1, MPI_INT, r, 3, comm);
  } else {
    MPI_Recv(&token, 1, MPI_INT, p - 1, 3, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

}  // namespace conformance
