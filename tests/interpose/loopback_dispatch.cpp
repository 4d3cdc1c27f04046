// In place of src/interpose/dispatch.cpp: takes every call and runs it on the MPI library, from the
// Call alone. So whatever an entry point puts in the wrong field becomes a wrong result.
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "calls/in_flight.h"
#include "calls/nonblocking.h"
#include "calls/persistent.h"
#include "calls/progress_thread.h"
#include "calls/retained_operation.h"
#include "comm/being_freed.h"
#include "comm/making.h"
#include "interpose/dispatch.h"
#include "mpi/peers.h"
#include "mpi/threads.h"
#include "mpi/turns.h"

namespace unisono {

constinit std::atomic<CollectiveSet> g_candidates{0};
constinit std::atomic<bool> g_session_threads{false};

namespace {

int g_calls = 0, g_operations = 0;

/// Narrow copies of a Call's arrays, which are not significant everywhere.
class Arrays {
 public:
  Arrays(const Call& call) : call_(call) {
    int inter = 0;
    PMPI_Comm_test_inter(call.comm, &inter);
    (inter ? PMPI_Comm_remote_size : PMPI_Comm_size)(call.comm, &size_);
    PMPI_Comm_rank(call.comm, &rank_);
    at_root_ = inter ? call.root == MPI_ROOT : rank_ == call.root;
  }
  const int* operator()(const IntegerArray& from, bool root_only = false) {
    const bool in_place = call_.sendbuf == MPI_IN_PLACE && !call_.sendtypes &&
                          call_.collective == Collective::alltoallv && !from;
    if (!from || in_place || (root_only && !at_root_)) return nullptr;
    return copy(from, size_);
  }
  const int* operator()(const IntegerArray& from, PerPeer per) {
    return copy(from, count_peers(call_.comm, per));
  }
  const MPI_Aint* addresses(const IntegerArray& from, PerPeer per) {
    auto& to = addresses_.emplace_back();
    for (int i = 0; i < count_peers(call_.comm, per); ++i) to.push_back(from[i]);
    return to.data();
  }

 private:
  const int* copy(const IntegerArray& from, int size) {
    auto& to = copies_.emplace_back();
    to.reserve(1);  // an address also for nobody: Open MPI wants one
    for (int i = 0; i < size; ++i) to.push_back(static_cast<int>(from[i]));
    return to.data();
  }

  const Call& call_;
  int size_ = 0, rank_ = 0;
  bool at_root_ = false;
  std::vector<std::vector<int>> copies_;
  std::vector<std::vector<MPI_Aint>> addresses_;
};

int run_among_neighbours(const Call& c, Arrays& a) {
  constexpr auto kTo = PerPeer::sent_to, kFrom = PerPeer::received_from;
  const int sendcount = static_cast<int>(c.sendcount), recvcount = static_cast<int>(c.recvcount);
  switch (c.collective) {
    case Collective::neighbor_allgather:
      return PMPI_Neighbor_allgather(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount,
                                     c.recvtype, c.comm);
    case Collective::neighbor_allgatherv:
      return PMPI_Neighbor_allgatherv(c.sendbuf, sendcount, c.sendtype, c.recvbuf,
                                      a(c.recvcounts, kFrom), a(c.rdispls, kFrom), c.recvtype,
                                      c.comm);
    case Collective::neighbor_alltoall:
      return PMPI_Neighbor_alltoall(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount,
                                    c.recvtype, c.comm);
    case Collective::neighbor_alltoallv:
      return PMPI_Neighbor_alltoallv(c.sendbuf, a(c.sendcounts, kTo), a(c.sdispls, kTo), c.sendtype,
                                     c.recvbuf, a(c.recvcounts, kFrom), a(c.rdispls, kFrom),
                                     c.recvtype, c.comm);
    case Collective::neighbor_alltoallw:
      return PMPI_Neighbor_alltoallw(c.sendbuf, a(c.sendcounts, kTo), a.addresses(c.sdispls, kTo),
                                     c.sendtypes, c.recvbuf, a(c.recvcounts, kFrom),
                                     a.addresses(c.rdispls, kFrom), c.recvtypes, c.comm);
    default: return MPI_ERR_OTHER;
  }
}

int run(const Call& c) {
  Arrays a(c);
  const int sendcount = static_cast<int>(c.sendcount), recvcount = static_cast<int>(c.recvcount);
  switch (c.collective) {
    case Collective::barrier: return PMPI_Barrier(c.comm);
    case Collective::bcast: return PMPI_Bcast(c.recvbuf, recvcount, c.recvtype, c.root, c.comm);
    case Collective::gather:
      return PMPI_Gather(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.root,
                         c.comm);
    case Collective::gatherv:
      return PMPI_Gatherv(c.sendbuf, sendcount, c.sendtype, c.recvbuf, a(c.recvcounts, true),
                          a(c.rdispls, true), c.recvtype, c.root, c.comm);
    case Collective::scatter:
      return PMPI_Scatter(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype,
                          c.root, c.comm);
    case Collective::scatterv:
      return PMPI_Scatterv(c.sendbuf, a(c.sendcounts, true), a(c.sdispls, true), c.sendtype,
                           c.recvbuf, recvcount, c.recvtype, c.root, c.comm);
    case Collective::allgather:
      return PMPI_Allgather(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype,
                            c.comm);
    case Collective::allgatherv:
      return PMPI_Allgatherv(c.sendbuf, sendcount, c.sendtype, c.recvbuf, a(c.recvcounts),
                             a(c.rdispls), c.recvtype, c.comm);
    case Collective::alltoall:
      return PMPI_Alltoall(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype,
                           c.comm);
    case Collective::alltoallv:
      return PMPI_Alltoallv(c.sendbuf, a(c.sendcounts), a(c.sdispls), c.sendtype, c.recvbuf,
                            a(c.recvcounts), a(c.rdispls), c.recvtype, c.comm);
    case Collective::alltoallw:
      return PMPI_Alltoallw(c.sendbuf, a(c.sendcounts), a(c.sdispls), c.sendtypes, c.recvbuf,
                            a(c.recvcounts), a(c.rdispls), c.recvtypes, c.comm);
    case Collective::reduce:
      return PMPI_Reduce(c.sendbuf, c.recvbuf, recvcount, c.recvtype, c.op, c.root, c.comm);
    case Collective::allreduce:
      return PMPI_Allreduce(c.sendbuf, c.recvbuf, recvcount, c.recvtype, c.op, c.comm);
    case Collective::reduce_scatter_block:
      return PMPI_Reduce_scatter_block(c.sendbuf, c.recvbuf, recvcount, c.recvtype, c.op, c.comm);
    case Collective::reduce_scatter:
      return PMPI_Reduce_scatter(c.sendbuf, c.recvbuf, a(c.recvcounts), c.recvtype, c.op, c.comm);
    case Collective::scan:
      return PMPI_Scan(c.sendbuf, c.recvbuf, recvcount, c.recvtype, c.op, c.comm);
    case Collective::exscan:
      return PMPI_Exscan(c.sendbuf, c.recvbuf, recvcount, c.recvtype, c.op, c.comm);
    default: return run_among_neighbours(c, a);
  }
  return MPI_ERR_OTHER;
}

}  // namespace

std::optional<int> decide(const Call& call, const CallInfo&, CallScope&) {
  const bool narrow = call.sendcount <= INT_MAX && call.recvcount <= INT_MAX;
  // Counts that are not significant are large in the test program; a large one that is gets the
  // error of the form that passes it on.
  if (!narrow && !is_rooted(call.collective)) return std::nullopt;
  if (call.collective == Collective::bcast && !narrow) return std::nullopt;
  ++g_calls;
  return run(call);
}

std::optional<int> dispatch(const Call& call, CallScope& scope) {
  return dispatch(call, CallInfo{}, scope);
}

std::optional<int> start(const Call&, MPI_Request*) { return std::nullopt; }
std::optional<int> make_persistent(const Call&, MPI_Info, MPI_Request*) { return std::nullopt; }

void on_init() { g_candidates = std::getenv("LOOPBACK_WATCHED") ? ~CollectiveSet{0} : ~kWatched; }
void on_session() {}
void on_finalize() {
  std::printf("loopback: %d calls, %d operations freed\n", g_calls, g_operations);
}

BeingFreed::BeingFreed(MPI_Comm comm) : comm_(comm), outer_(nullptr) {}
BeingFreed::~BeingFreed() = default;

constinit std::atomic<bool> g_several_threads{true};
Ending::Ending() : before_(false) {}
Ending::~Ending() = default;

ProgramMakes::ProgramMakes() = default;
ProgramMakes::~ProgramMakes() = default;
void note_duplicating() noexcept {}

void forget_done() noexcept {}
void settle_in_flight() noexcept {}
bool wants_progress_thread() { return false; }
bool is_any_in_flight() noexcept { return false; }
bool has_persistent() noexcept { return false; }
std::optional<int> start_persistent(MPI_Request) noexcept { return std::nullopt; }
void forget_persistent(MPI_Request) noexcept {}
int provide_persistent(NonblockingCall, MPI_Comm, MPI_Request*) noexcept { return MPI_ERR_OTHER; }
void keep_until_freed(KeptArrays arrays, MPI_Request) noexcept {
  for (auto& array : arrays) static_cast<void>(array.release());
}
/// For ever.
void keep_until_done(KeptArrays arrays, MPI_Request*) noexcept {
  for (auto& array : arrays) static_cast<void>(array.release());
}

/// At once, but here: the entry point sees to the program's handle.
bool frees_later(MPI_Op op) noexcept {
  ++g_operations;
  return PMPI_Op_free(&op) == MPI_SUCCESS;
}

}  // namespace unisono
