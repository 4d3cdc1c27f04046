// Nonblocking collectives of the MPI library, and messages with every tag, in flight on the
// communicator on which Unisono runs blocking ones: neither may see the other's messages.
#include "check.h"

int main(int argc, char** argv) {
  using unisono::Collective;
  MPI_Init(&argc, &argv);
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  const int size = conformance::size_of(MPI_COMM_WORLD);
  const auto p = static_cast<std::size_t>(size);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 60;
  const auto bcasts = conformance::algorithms_of(Collective::bcast, size, true);
  const auto allreduces = conformance::algorithms_of(Collective::allreduce, size, true);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  conformance::force_all();

  for (int round = 0; round < rounds; ++round) {
    const auto r = static_cast<std::size_t>(round);
    conformance::force("bcast", bcasts[r % bcasts.size()]);
    conformance::force("allreduce", allreduces[r % allreduces.size()]);
    const std::size_t length = 1 + r * 531 % 20000;
    const int count = static_cast<int>(length);

    // A receive from anybody with any tag must not take what Unisono sends.
    int guest = -1;
    MPI_Request requests[5];
    MPI_Irecv(&guest, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[0]);
    std::vector<int> broadcast(length, me == 0 ? round : -1), sum(length), ones(length, 1);
    std::vector<int> gathered(p, -1);
    PMPI_Ibcast(broadcast.data(), count, MPI_INT, 0, comm, &requests[1]);
    PMPI_Iallreduce(ones.data(), sum.data(), count, MPI_INT, MPI_SUM, comm, &requests[2]);
    PMPI_Iallgather(&me, 1, MPI_INT, gathered.data(), 1, MPI_INT, comm, &requests[3]);
    PMPI_Ibarrier(comm, &requests[4]);

    std::vector<int> other(length, me == size - 1 ? -round : 0), total(length);
    MPI_Bcast(other.data(), count, MPI_INT, size - 1, comm);
    CHECK(other.front() == -round && other.back() == -round);
    MPI_Allreduce(ones.data(), total.data(), count, MPI_INT, MPI_SUM, comm);
    CHECK(total.front() == size && total.back() == size);
    MPI_Barrier(comm);

    const int greeting = 1000 * round + me;
    MPI_Send(&greeting, 1, MPI_INT, (me + 1) % size, round, comm);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    CHECK(guest == 1000 * round + (me + size - 1) % size);
    CHECK(broadcast.front() == round && broadcast.back() == round);
    CHECK(sum.front() == size && sum.back() == size);
    for (int i = 0; i < size; ++i) CHECK(gathered[static_cast<std::size_t>(i)] == i);
  }
  MPI_Comm_free(&comm);
  const auto blocking = 3ULL * static_cast<unsigned long long>(rounds);
  conformance::passed("in_flight", blocking, blocking);
  MPI_Finalize();
  return 0;
}
