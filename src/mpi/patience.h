// What Unisono itself sends, in messages that every MPI library takes in every surroundings, and
// waiting for it while other ranks on this core do something else.
#pragma once
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "mpi/comm.h"
#include "mpi/rank_lost.h"
#include "mpi/simulated.h"

namespace unisono {

/// Bytes of the longest message that Unisono sends for itself. From 8 KiB on MPICH (5.0.2) copies
/// from the other process's memory, and ends the job where the system does not let it; shorter
/// messages go through memory that the ranks share anyway.
inline constexpr std::size_t kMostBytesSent = 4 << 10;

/// Between two looks, after so many. Many ranks that spin in MPI_Wait make all times those of the
/// scheduler where they share cores: MPI's connections, of which each takes several turns of both
/// ends, take up to three times as long.
inline void rest(int looks) {
  constexpr int kQuickLooks = 20;
  constexpr useconds_t kBetweenLooks = 200;
  if (looks < kQuickLooks)
    ::sched_yield();
  else
    ::usleep(kBetweenLooks);
}

/// Looks until a request of Unisono's own on `comm` is over: the error that it ends with, also
/// because the program has revoked its communicator, whose other ranks may never come.
template <class Pause>
int wait_looking(MPI_Request& request, MPI_Comm comm, const Pause& pause) {
  if (kSimulated)
    return PMPI_Wait(&request, MPI_STATUS_IGNORE);  // who polls keeps it from going on
  bool revoked = false;
  for (int looks = 0, done = 0;; ++looks) {
    const int rc = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS || done != 0) return rc;
    if (!revoked && is_call_revoked()) {
      revoke(comm);
      revoked = true;
    }
    pause(looks);
  }
}

inline int wait_patiently(MPI_Request& request, MPI_Comm comm) {
  return wait_looking(request, comm, rest);
}

/// Calls send(first, count) for one piece after the other of so many elements until one fails.
template <class Send>
int in_messages(std::size_t elements, std::size_t bytes_each, const Send& send) {
  const std::size_t most = kMostBytesSent / bytes_each;
  int rc = MPI_SUCCESS;
  for (std::size_t first = 0; first < elements && rc == MPI_SUCCESS; first += most)
    rc = send(first, static_cast<int>(std::min(most, elements - first)));
  return rc;
}

/// Rank 0's bytes, on all ranks that get MPI_SUCCESS. Collective over `comm`, as all of these.
inline int tell_patiently(void* bytes, int count, MPI_Comm comm) {
  return in_messages(static_cast<std::size_t>(count), 1, [&](std::size_t first, int n) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int rc =
        PMPI_Ibcast(static_cast<std::byte*>(bytes) + first, n, MPI_BYTE, 0, comm, &request);
    return rc == MPI_SUCCESS ? wait_patiently(request, comm) : rc;
  });
}

/// All ranks' elements under `op`, on all ranks that get MPI_SUCCESS.
template <class T, std::size_t kExtent>
int reduce_patiently(std::span<T, kExtent> elements, MPI_Op op, MPI_Comm comm) {
  const MPI_Datatype type = [] {
    if constexpr (std::is_same_v<T, int>) return MPI_INT;
    if constexpr (std::is_same_v<T, long long>) return MPI_LONG_LONG;
    if constexpr (std::is_same_v<T, unsigned char>) return MPI_BYTE;
  }();
  return in_messages(elements.size(), sizeof(T), [&](std::size_t first, int n) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int rc = PMPI_Iallreduce(MPI_IN_PLACE, &elements[first], n, type, op, comm, &request);
    return rc == MPI_SUCCESS ? wait_patiently(request, comm) : rc;
  });
}

/// As all_agree(), for ranks that share cores.
inline bool all_agree_patiently(MPI_Comm comm, bool own_answer) {
  int answer = own_answer ? 1 : 0;
  return reduce_patiently(std::span(&answer, 1), MPI_MIN, comm) == MPI_SUCCESS && answer == 1;
}

/// What every rank says, by rank; negative numbers are not told. Not by MPI_Iallgather, with which
/// Open MPI connects all ranks with all (ADR 30).
template <std::size_t kCount>
std::vector<int> gather_patiently(const std::array<int, kCount>& own, MPI_Comm comm) {
  std::vector<int> all(static_cast<std::size_t>(size_of(comm)) * kCount, -1);
  std::copy(own.begin(), own.end(),
            all.begin() + static_cast<std::ptrdiff_t>(rank_in(comm) * kCount));
  reduce_patiently(std::span(all), MPI_MAX, comm);
  return all;
}

}  // namespace unisono
