// A program whose collectives are counted, for traced_test.py: every rank says how many it has
// made.
//
//   mpiexec -n P traced {all | neighbours | many | long | threads | fork | abort | kill | exit}
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "check.h"

namespace {

using conformance::rank_in;
using conformance::size_of;

std::atomic<int> g_calls{0};

/// Each collective once, with blocks of two ints, and in place where that goes. For the
/// inter-communicator: without those that it has not.
void collectives(MPI_Comm comm) {
  int inter = 0, others = 0;
  MPI_Comm_test_inter(comm, &inter);
  (inter != 0 ? MPI_Comm_remote_size : MPI_Comm_size)(comm, &others);
  const auto p = static_cast<std::size_t>(others);
  std::vector<int> in(2 * p + 2, 1), out(2 * p + 2), counts(p, 2), displs(p);
  for (std::size_t i = 0; i < p; ++i) displs[i] = static_cast<int>(2 * i);
  MPI_Barrier(comm);
  MPI_Allreduce(in.data(), out.data(), 2, MPI_INT, MPI_SUM, comm);
  MPI_Allgather(in.data(), 2, MPI_INT, out.data(), 2, MPI_INT, comm);
  MPI_Allgatherv(in.data(), 2, MPI_INT, out.data(), counts.data(), displs.data(), MPI_INT, comm);
  MPI_Alltoall(in.data(), 2, MPI_INT, out.data(), 2, MPI_INT, comm);
  MPI_Alltoallv(in.data(), counts.data(), displs.data(), MPI_INT, out.data(), counts.data(),
                displs.data(), MPI_INT, comm);
  g_calls += 6;
  if (inter != 0) return;
  MPI_Bcast(out.data(), 2, MPI_INT, 0, comm);
  MPI_Gather(in.data(), 2, MPI_INT, out.data(), 2, MPI_INT, 0, comm);
  MPI_Scatter(in.data(), 2, MPI_INT, out.data(), 2, MPI_INT, 0, comm);
  MPI_Reduce(in.data(), out.data(), 2, MPI_INT, MPI_SUM, others - 1, comm);
  MPI_Allreduce(MPI_IN_PLACE, out.data(), 2, MPI_INT, MPI_SUM, comm);
  MPI_Scan(in.data(), out.data(), 2, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter_block(in.data(), out.data(), 2, MPI_INT, MPI_SUM, comm);
  g_calls += 7;
}

void all() {
  MPI_Comm half, copy, inter;
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_name(half, rank % 2 == 0 ? "even \"half\"" : "odd half");
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter);
  for (MPI_Comm comm : {MPI_COMM_WORLD, half, copy, inter, MPI_COMM_SELF, copy}) collectives(comm);
  for (MPI_Comm* comm : {&inter, &copy, &half}) MPI_Comm_free(comm);
}

/// The five of a topology, on `comm`, each through MPI_ and through PMPI_: equal results. Blocks of
/// two ints, so that every call has 8 bytes.
void among_neighbours(MPI_Comm comm, int to, int from) {
  const auto sent = static_cast<std::size_t>(to), received = static_cast<std::size_t>(from);
  std::vector<int> in(2 * sent + 2), twos(std::max(sent, received) + 1, 2), places(twos.size());
  std::vector<MPI_Aint> bytes(twos.size());
  std::vector<MPI_Datatype> types(twos.size(), MPI_INT);
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = 100 * rank_in(MPI_COMM_WORLD) + static_cast<int>(i);
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i] = static_cast<int>(2 * i);
    bytes[i] = static_cast<MPI_Aint>(2 * i * sizeof(int));
  }
  std::vector<int> ours(2 * received + 2, -1), theirs(ours);
  const auto same = [&] {
    CHECK(ours == theirs);
    CHECK(from == 0 || ours != std::vector<int>(ours.size(), -1));
    ours.assign(ours.size(), -1);
    theirs.assign(theirs.size(), -1);
    ++g_calls;
  };
  const int *n = twos.data(), *at = places.data();
  MPI_Neighbor_allgather(in.data(), 2, MPI_INT, ours.data(), 2, MPI_INT, comm);
  PMPI_Neighbor_allgather(in.data(), 2, MPI_INT, theirs.data(), 2, MPI_INT, comm);
  same();
  MPI_Neighbor_allgatherv(in.data(), 2, MPI_INT, ours.data(), n, at, MPI_INT, comm);
  PMPI_Neighbor_allgatherv(in.data(), 2, MPI_INT, theirs.data(), n, at, MPI_INT, comm);
  same();
  MPI_Neighbor_alltoall(in.data(), 2, MPI_INT, ours.data(), 2, MPI_INT, comm);
  PMPI_Neighbor_alltoall(in.data(), 2, MPI_INT, theirs.data(), 2, MPI_INT, comm);
  same();
  MPI_Neighbor_alltoallv(in.data(), n, at, MPI_INT, ours.data(), n, at, MPI_INT, comm);
  PMPI_Neighbor_alltoallv(in.data(), n, at, MPI_INT, theirs.data(), n, at, MPI_INT, comm);
  same();
  MPI_Neighbor_alltoallw(in.data(), n, bytes.data(), types.data(), ours.data(), n, bytes.data(),
                         types.data(), comm);
  PMPI_Neighbor_alltoallw(in.data(), n, bytes.data(), types.data(), theirs.data(), n, bytes.data(),
                          types.data(), comm);
  same();
}

void neighbours() {
  const int p = size_of(MPI_COMM_WORLD), rank = rank_in(MPI_COMM_WORLD);
  int dims[2] = {0, 0};
  const int periods[2] = {1, 0};  // who stands at the edge has nobody beyond it
  MPI_Dims_create(p, 2, dims);
  MPI_Comm grid, star;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  among_neighbours(grid, 4, 4);
  // All send to rank 0.
  std::vector<int> sources(static_cast<std::size_t>(p)), weights(sources.size(), 1);
  for (int r = 0; r < p; ++r) sources[static_cast<std::size_t>(r)] = r;
  const int from = rank == 0 ? p : 0, centre = 0, weight = 1;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, from, sources.data(), weights.data(), 1, &centre,
                                 &weight, MPI_INFO_NULL, 0, &star);
  among_neighbours(star, 1, from);
  MPI_Comm_free(&star);
  MPI_Comm_free(&grid);
}

void many() {
  for (int i = 0; i < 2000; ++i, ++g_calls) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
  }
}

void long_run() {
  for (int i = 0; i < 40000; ++i, ++g_calls) MPI_Barrier(MPI_COMM_SELF);
}

void threads() {
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    all.emplace_back([comm] {
      for (int i = 0; i < 300; ++i, ++g_calls) {
        int value = i, sum = 0;
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == i * size_of(comm));
      }
    });
  }
  for (std::thread& thread : all) thread.join();
}

/// The child's calls are not the rank's.
void forked() {
  const pid_t child = fork();
  if (child == 0) {
    MPI_Barrier(MPI_COMM_SELF);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  collectives(MPI_COMM_WORLD);
}

/// Every rank's word has reached rank 0, and rank 0's every rank, once it returns; not traced.
void meet_by_messages() {
  const int rank = rank_in(MPI_COMM_WORLD);
  for (int peer = 1; rank == 0 && peer < size_of(MPI_COMM_WORLD); ++peer)
    MPI_Recv(nullptr, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int peer = 1; rank == 0 && peer < size_of(MPI_COMM_WORLD); ++peer)
    MPI_Send(nullptr, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
  if (rank == 0) return;
  MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "all";
  int provided = 0;
  MPI_Init_thread(&argc, &argv, way == "threads" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  CHECK(way != "threads" || provided == MPI_THREAD_MULTIPLE);
  const int rank = rank_in(MPI_COMM_WORLD);
  if (way == "threads")
    threads();
  else if (way == "many")
    many();
  else if (way == "long")
    long_run();
  else if (way == "neighbours")
    neighbours();
  else if (way == "fork")
    forked();
  else
    all();
  std::printf("rank %d made %d calls\n", rank, g_calls.load());
  std::fflush(stdout);
  // Launchers end all ranks when one does: by then every rank has to have left its last call.
  if (way == "exit" || way == "abort" || way == "kill") meet_by_messages();
  if (way == "exit") return 0;  // without MPI_Finalize
  if (way == "abort" || way == "kill") {
    if (rank == 0) usleep(500000);  // the others wait in the barrier by then
    if (rank == 0 && way == "abort") MPI_Abort(MPI_COMM_WORLD, 17);
    if (rank == 0) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);  // never left
  }
  MPI_Finalize();
  return 0;
}
