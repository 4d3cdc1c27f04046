// Collectives among neighbours that Unisono runs: all five, as blocking, nonblocking and persistent
// calls, on every kind of topology, by every algorithm; every element against what MPI says, those
// that nobody sends too. A topology that falls apart is the MPI library's.
//
//   mpiexec -n P neighbours
#include <algorithm>
#include <array>
#include <memory>

#include "check.h"
#include "src/mpi/functions.h"

namespace {

using conformance::rank_in;
using conformance::size_of;
using unisono::Collective;
using unisono::IntArguments;

/// Where blocks come from and go to, and which block of its sender each one is.
struct Ends {
  MPI_Comm comm = MPI_COMM_NULL;
  bool falls_apart = false;
  bool is_grid = false, sends_two = false;  // blocks from some rank to another one
  std::vector<int> sources, sent, destinations;
};

constexpr int kLongest = 64;
constexpr int kUntouched = -7;

int element(int from, int sent, int k) { return (from * 100 + sent) * 1000 + k; }

/// Where the MPI library mixes up blocks of one rank, and Unisono leaves all to it.
bool mixes_up(const Ends& ends) {
#ifdef OPEN_MPI
  return ends.sends_two && ends.is_grid;
#else
  return ends.sends_two && conformance::is_mpich_4_0();
#endif
}

/// Of the block from one rank to another; `cut`: each neighbour gets one of its own.
int length(bool irregular, bool cut, int from, int to) {
  if (!irregular) return 20;
  if (from == MPI_PROC_NULL || to == MPI_PROC_NULL) return 4;  // and nobody looks
  return (from * 7 + (cut ? to * 3 : 0)) % 5 * 12;             // zero among them
}

struct Exchange {
  Collective collective;
  const Ends& ends;
  std::vector<int> in, out;
  std::vector<int> sendcounts, sdispls, recvcounts, rdispls;
  std::vector<MPI_Aint> sbytes, rbytes;
  std::vector<MPI_Datatype> sendtypes, recvtypes;
  bool cuts, irregular;
  MPI_Datatype pairs = MPI_DATATYPE_NULL;  // what is received has gaps

  Exchange(Collective which, const Ends& of)
      : collective(which),
        ends(of),
        cuts(unisono::is_per_peer(unisono::semantics(which).send.shape)),
        irregular(unisono::is_irregular(which)) {
    const int me = rank_in(ends.comm);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &pairs);
    MPI_Type_commit(&pairs);
    const int blocks = cuts ? static_cast<int>(ends.destinations.size()) : 1;
    for (int i = 0; i < blocks; ++i) {
      const int to = cuts ? ends.destinations[static_cast<std::size_t>(i)] : 0;
      sendcounts.push_back(length(irregular, cuts, me, to));
      sdispls.push_back(irregular ? i * kLongest : i * 20);
    }
    in.assign(static_cast<std::size_t>(kLongest * blocks + 1), 0);
    for (int i = 0; i < blocks; ++i)
      for (int k = 0; k < sendcounts[static_cast<std::size_t>(i)]; ++k)
        in[static_cast<std::size_t>(sdispls[static_cast<std::size_t>(i)] + k)] = element(me, i, k);
    const int n = static_cast<int>(ends.sources.size());
    for (int i = 0; i < n; ++i) {
      recvcounts.push_back(length(irregular, cuts, ends.sources[static_cast<std::size_t>(i)], me));
      rdispls.push_back(irregular ? (n - 1 - i) * kLongest : i * 20);  // in no order
    }
    for (const int at : sdispls) sbytes.push_back(at * static_cast<MPI_Aint>(sizeof(int)));
    for (const int at : rdispls) rbytes.push_back(at * static_cast<MPI_Aint>(2 * sizeof(int)));
    sendtypes.assign(sendcounts.size(), MPI_INT);
    recvtypes.assign(recvcounts.size(), pairs);
    out.assign(static_cast<std::size_t>(2 * kLongest * (n + 1)), kUntouched);
  }
  ~Exchange() { MPI_Type_free(&pairs); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  IntArguments arguments() {
    return {.sendbuf = in.data(),
            .sendcount = cuts ? 20 : sendcounts[0],
            .sendcounts = sendcounts.data(),
            .sdispls = sdispls.data(),
            .sdispls_bytes = sbytes.data(),
            .sendtype = MPI_INT,
            .sendtypes = sendtypes.data(),
            .recvbuf = out.data(),
            .recvcount = 20,
            .recvcounts = recvcounts.data(),
            .rdispls = rdispls.data(),
            .rdispls_bytes = rbytes.data(),
            .recvtype = pairs,
            .recvtypes = recvtypes.data(),
            .comm = ends.comm};
  }
  void see() {
    std::vector<int> wanted(out.size(), kUntouched);
    for (std::size_t i = 0; i < ends.sources.size(); ++i) {
      if (ends.sources[i] == MPI_PROC_NULL) continue;
      for (int k = 0; k < recvcounts[i]; ++k)
        wanted[2 * static_cast<std::size_t>(rdispls[i] + k)] =
            element(ends.sources[i], cuts ? ends.sent[i] : 0, k);
    }
    if (out != wanted) std::fprintf(stderr, "%s\n", unisono::name(collective).data());
    CHECK(out == wanted);
    std::fill(out.begin(), out.end(), kUntouched);
  }
};

constexpr std::array kCollectives{Collective::neighbor_allgather, Collective::neighbor_allgatherv,
                                  Collective::neighbor_alltoall, Collective::neighbor_alltoallv,
                                  Collective::neighbor_alltoallw};

/// All calls of all forms; how many.
int run_all(const Ends& ends, bool blocking_only) {
  int calls = 0;
  for (const Collective collective : kCollectives) {
    // MPICH 4.0.2 mixes up two blocks that a rank sends to another, or loses one.
    if (ends.sends_two && conformance::is_mpich_4_0() &&
        unisono::is_per_peer(unisono::semantics(collective).send.shape))
      continue;
    Exchange exchange(collective, ends);
    for (int round = 0; round < 2; ++round) {
      call_function(unisono::kProgramFunctions, collective, exchange.arguments());
      exchange.see();
      ++calls;
    }
    if (blocking_only) continue;
    std::vector<std::unique_ptr<Exchange>> many;
    std::vector<MPI_Request> requests(5, MPI_REQUEST_NULL);
    for (MPI_Request& request : requests) {
      many.push_back(std::make_unique<Exchange>(collective, ends));
      start_function(collective, many.back()->arguments(), &request);
      ++calls;
    }
    MPI_Waitall(5, requests.data(), MPI_STATUSES_IGNORE);
    for (const auto& one : many) one->see();
    MPI_Request request = MPI_REQUEST_NULL;
    make_function(collective, exchange.arguments(), &request);
    ++calls;
    for (int round = 0; round < 3; ++round) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      exchange.see();
    }
    MPI_Request_free(&request);
  }
  return calls;
}

Ends cartesian(std::vector<int> dims, std::vector<int> periods) {
  Ends ends;
  const int n = static_cast<int>(dims.size());
  MPI_Cart_create(MPI_COMM_WORLD, n, dims.data(), periods.data(), 0, &ends.comm);
  for (int d = 0; d < n; ++d) {
    int below = 0, above = 0;
    MPI_Cart_shift(ends.comm, d, 1, &below, &above);
    const auto i = static_cast<std::size_t>(d);
    ends.sends_two = ends.sends_two || (periods[i] != 0 && dims[i] <= 2);
    for (const int rank : {below, above}) ends.sources.push_back(rank);
    for (const int sent : {2 * d + 1, 2 * d}) ends.sent.push_back(sent);
  }
  ends.destinations = ends.sources;
  ends.is_grid = true;
  return ends;
}

/// A ring and a chord, as MPI_Graph_create has it: both ways.
Ends general() {
  Ends ends;
  const int p = size_of(MPI_COMM_WORLD), me = rank_in(MPI_COMM_WORLD);
  const auto neighbours = [p](int r) {
    std::vector<int> all;
    if (r > 0) all.push_back(r - 1);
    if (r < p - 1) all.push_back(r + 1);
    if (p > 2 && (r == 0 || r == p - 1)) all.push_back(p - 1 - r);
    return all;
  };
  std::vector<int> index, edges;
  for (int r = 0; r < p; ++r) {
    for (const int other : neighbours(r)) edges.push_back(other);
    index.push_back(static_cast<int>(edges.size()));
  }
  MPI_Graph_create(MPI_COMM_WORLD, p, index.data(), edges.data(), 0, &ends.comm);
  ends.sources = ends.destinations = neighbours(me);
  for (const int source : ends.sources) {
    const auto theirs = neighbours(source);
    ends.sent.push_back(
        static_cast<int>(std::find(theirs.begin(), theirs.end(), me) - theirs.begin()));
  }
  return ends;
}

/// To the next rank twice, the one behind it, itself, and from rank 0 to all: other neighbours than
/// sources. `apart`: only to itself.
Ends named(bool apart) {
  Ends ends;
  ends.falls_apart = apart;
  ends.sends_two = true;
  const int p = size_of(MPI_COMM_WORLD), me = rank_in(MPI_COMM_WORLD);
  const auto destinations = [p, apart](int r) {
    if (apart) return std::vector<int>{r, r};
    std::vector<int> all{(r + 1) % p, (r + 2) % p, r, (r + 1) % p};
    for (int to = 0; r == 0 && to < p; ++to) all.push_back(to);
    return all;
  };
  ends.destinations = destinations(me);
  for (int from = p - 1; from >= 0; --from) {
    const auto theirs = destinations(from);
    for (std::size_t sent = 0; sent < theirs.size(); ++sent) {
      if (theirs[sent] != me) continue;
      ends.sources.push_back(from);
      ends.sent.push_back(static_cast<int>(sent));
    }
  }
  MPI_Dist_graph_create_adjacent(
      MPI_COMM_WORLD, static_cast<int>(ends.sources.size()), ends.sources.data(), MPI_UNWEIGHTED,
      static_cast<int>(ends.destinations.size()), ends.destinations.data(), MPI_UNWEIGHTED,
      MPI_INFO_NULL, 0, &ends.comm);
  return ends;
}

void force(const std::string& spec) {
  for (const Collective collective : kCollectives)
    conformance::force(unisono::name(collective).data(), spec);
}

/// What goes one way need not be as long as what comes back (MPI-4.1, 8.6.1: sendcount at a process
/// is recvcount at all others, so that two ranks may have two).
void two_lengths() {
  const int me = rank_in(MPI_COMM_WORLD), other = 1 - me;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &other, MPI_UNWEIGHTED, 1, &other,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  const int lengths[] = {1, 1000};
  const std::vector<int> sent(static_cast<std::size_t>(lengths[me]), me);
  for (int i = 0; i < 100; ++i) {
    std::vector<int> received(static_cast<std::size_t>(lengths[other]), -1);
    MPI_Neighbor_allgather(sent.data(), lengths[me], MPI_INT, received.data(), lengths[other],
                           MPI_INT, comm);
    CHECK(received == std::vector<int>(received.size(), other));
  }
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int p = size_of(MPI_COMM_WORLD);
  std::vector<Ends> all{cartesian({p}, {1}), cartesian({p, 1}, {0, 1}), general(), named(false),
                        named(true)};
  if (p % 2 == 0) all.push_back(cartesian({p / 2, 2}, {0, 1}));
  for (Ends& ends : all) {
    for (const std::string spec : {"linear", "nodes", "rows", "linear:transport=shm", "shm"}) {
      force(spec);
      const unsigned long long before = conformance::own_calls();
      // The first one makes what nonblocking ones need.
      // Kernels cannot be in flight, nor can anything of ours under MPICH 4.0, whose own fail.
      const bool is_native = ends.falls_apart || mixes_up(ends);
      const int calls = run_all(ends, spec == "shm" || is_native || conformance::is_mpich_4_0());
      const unsigned long long own = conformance::own_calls() - before;
      if (conformance::has_unisono())
        CHECK(own == (is_native ? 0 : static_cast<unsigned long long>(calls)));
    }
    force("default");
    run_all(ends, true);
    MPI_Comm_free(&ends.comm);
  }
  if (p == 2) two_lengths();
  conformance::passed("neighbours", conformance::is_mpich_4_0() ? 50 : 250,
                      conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
