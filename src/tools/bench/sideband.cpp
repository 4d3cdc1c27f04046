#include "tools/bench/sideband.h"

#include <sched.h>

#include <algorithm>
#include <vector>

namespace unisono::bench {

namespace {

constexpr int kTag = 1;

// With a core for every rank the answer comes within these tests; without, the core is better
// given to the rank that is waited for.
constexpr int kTestsBeforeYield = 64;

void wait_politely(MPI_Request requests[2]) {
  int done = 0;
  for (int tests = 0; done == 0; ++tests) {
    PMPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    if (done == 0 && tests >= kTestsBeforeYield) sched_yield();
  }
}

}  // namespace

Sideband::Sideband(MPI_Comm comm) {
  PMPI_Comm_dup(comm, &comm_);
  PMPI_Comm_rank(comm_, &rank_);
  PMPI_Comm_size(comm_, &size_);
}

Sideband::~Sideband() { PMPI_Comm_free(&comm_); }

void Sideband::exchange(const void* send, int send_count, int to, void* recv, int recv_count,
                        int from, MPI_Datatype type) const {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (from >= 0) PMPI_Irecv(recv, recv_count, type, from, kTag, comm_, &requests[0]);
  if (to >= 0) PMPI_Isend(send, send_count, type, to, kTag, comm_, &requests[1]);
  wait_politely(requests);
}

void Sideband::barrier() {
  if (meeting_) return meeting_->barrier();
  for (int distance = 1; distance < size_; distance *= 2)
    exchange(nullptr, 0, (rank_ + distance) % size_, nullptr, 0, (rank_ - distance + size_) % size_,
             MPI_BYTE);
}

// Half of the ranks on: the other rank is not on this host, wherever neighbours share one.
void Sideband::drain(Count bytes) {
  const int half = size_ / 2, n = static_cast<int>(bytes);
  outgoing_.resize(static_cast<std::size_t>(bytes));
  incoming_.resize(outgoing_.size());
  exchange(outgoing_.data(), n, (rank_ + half) % size_, incoming_.data(), n,
           (rank_ - half + size_) % size_, MPI_BYTE);
}

// Up and down a binomial tree; rank 0 combines in one order.
void Sideband::agree(std::span<double> maxima, std::span<double> sums) {
  if (meeting_) meeting_->barrier();  // the exchange does not sleep
  std::vector<double> mine(maxima.begin(), maxima.end());
  mine.insert(mine.end(), sums.begin(), sums.end());
  std::vector<double> theirs(mine.size());
  const int n = static_cast<int>(mine.size());

  int span = 1;
  for (; span < size_ && (rank_ & span) == 0; span *= 2) {
    if (rank_ + span >= size_) continue;
    exchange(nullptr, 0, -1, theirs.data(), n, rank_ + span, MPI_DOUBLE);
    for (std::size_t i = 0; i < mine.size(); ++i)
      mine[i] = i < maxima.size() ? std::max(mine[i], theirs[i]) : mine[i] + theirs[i];
  }
  if (rank_ != 0) {
    exchange(mine.data(), n, rank_ - span, nullptr, 0, -1, MPI_DOUBLE);
    exchange(nullptr, 0, -1, mine.data(), n, rank_ - span, MPI_DOUBLE);
  }
  for (span /= 2; span >= 1; span /= 2)
    if (rank_ + span < size_) exchange(mine.data(), n, rank_ + span, nullptr, 0, -1, MPI_DOUBLE);

  std::copy_n(mine.begin(), maxima.size(), maxima.begin());
  std::copy_n(mine.begin() + static_cast<std::ptrdiff_t>(maxima.size()), sums.size(), sums.begin());
}

}  // namespace unisono::bench
