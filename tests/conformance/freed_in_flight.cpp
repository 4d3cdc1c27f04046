// Communicators that are freed while nonblocking collectives are in flight on them, as MPI allows
// (MPI-4.1, 7.4.3: what is pending completes normally). Blocking collectives run between, through
// the memory of the node: in the MPI library these would move the others to their end, without
// which Open MPI's own MPI_Comm_free takes away what those use.
#include "check.h"

namespace {

constexpr int kRounds = 150, kBlocking = 2;

int sum_of_ones(MPI_Comm comm) {
  const int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

/// `blocking`: on which the calls between are; MPI_COMM_NULL: on the one that is freed.
void free_in_flight(int length, MPI_Comm blocking) {
  const int me = conformance::rank_in(MPI_COMM_WORLD), p = conformance::size_of(MPI_COMM_WORLD);
  const auto ints = static_cast<std::size_t>(length);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, me, &comm);
    CHECK(sum_of_ones(comm) == p);
    std::vector<int> ones(ints, 1), sums(ints, -1), data(ints, me == 0 ? round : -1);
    MPI_Request requests[3];
    MPI_Iallreduce(ones.data(), sums.data(), length, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Ibcast(data.data(), length, MPI_INT, 0, comm, &requests[1]);
    MPI_Ibarrier(comm, &requests[2]);
    for (int i = 0; i < kBlocking; ++i)
      CHECK(sum_of_ones(blocking == MPI_COMM_NULL ? comm : blocking) == p);
    MPI_Comm_free(&comm);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(sums.front() == p && sums.back() == p && data.front() == round && data.back() == round);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  conformance::force("allreduce", "shm");
  for (const int length : {1, 20000})
    for (const MPI_Comm blocking : {MPI_COMM_NULL, MPI_COMM_WORLD})
      free_in_flight(length, blocking);
  constexpr unsigned long long kCalls = 4ULL * kRounds * (1 + kBlocking);
  conformance::passed("freed_in_flight", kCalls, kCalls);
  MPI_Finalize();
  return 0;
}
