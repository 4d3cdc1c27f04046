// Calls of MPI_Alltoallv and MPI_Alltoallw that follow an order of messages: where their counts
// repeat none are exchanged, whatever the counts are by then; every message is counted.
#include <dlfcn.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "check.h"

namespace {

std::atomic<int> g_sent{0};

}  // namespace

// Unisono's messages come by here, between nodes by either; the MPI library's own do not.
extern "C" {
[[gnu::visibility("default")]] int PMPI_Isend(const void* buffer, int count, MPI_Datatype type,
                                              int to, int tag, MPI_Comm comm,
                                              MPI_Request* request) {
  static const auto next = reinterpret_cast<decltype(&PMPI_Isend)>(dlsym(RTLD_NEXT, "PMPI_Isend"));
  ++g_sent;
  return next(buffer, count, type, to, tag, comm, request);
}
[[gnu::visibility("default")]] int PMPI_Issend(const void* buffer, int count, MPI_Datatype type,
                                               int to, int tag, MPI_Comm comm,
                                               MPI_Request* request) {
  static const auto next =
      reinterpret_cast<decltype(&PMPI_Issend)>(dlsym(RTLD_NEXT, "PMPI_Issend"));
  ++g_sent;
  return next(buffer, count, type, to, tag, comm, request);
}
}

namespace {

using Ints = std::vector<int>;
/// What rank i sends to rank j.
using Counts = std::function<int(int, int)>;

int g_rank = 0, g_size = 1;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// One call of counts, by a function of MPI.
struct Exchange {
  enum class Way { v, w, in_place, pairs, nonblocking, persistent };

  Exchange(const Counts& counts, int nth, Way by) : way(by) {
    for (int i = 0; i < g_size; ++i) {
      sent.push_back(counts(g_rank, i));
      received.push_back(counts(i, g_rank));
      from.push_back(i == 0 ? 0 : from.back() + sent[at(i - 1)]);
      into.push_back(i == 0 ? 0 : into.back() + received[at(i - 1)] + 2);  // with gaps
      for (int k = 0; k < sent.back(); ++k) out.push_back(value(g_rank, i, nth));
      expected.insert(expected.end(), at(received.back()), value(i, g_rank, nth));
      expected.insert(expected.end(), {-1, -1});
    }
    in.assign(expected.size(), -1);
    if (way != Way::in_place) return;
    for (int i = 0; i < g_size; ++i)
      for (int k = 0; k < received[at(i)]; ++k) in[at(into[at(i)] + k)] = value(g_rank, i, nth);
  }
  static int value(int from, int to, int nth) { return from * 10000 + to * 100 + nth % 97; }

  void start(MPI_Comm comm) {
    switch (way) {
      case Way::v:
        MPI_Alltoallv(out.data(), sent.data(), from.data(), MPI_INT, in.data(), received.data(),
                      into.data(), MPI_INT, comm);
        break;
      case Way::w: {
        bytes = from;
        bytes.insert(bytes.end(), into.begin(), into.end());
        for (int& b : bytes) b *= static_cast<int>(sizeof(int));
        const std::vector<MPI_Datatype> types(at(g_size), MPI_INT);
        MPI_Alltoallw(out.data(), sent.data(), bytes.data(), types.data(), in.data(),
                      received.data(), bytes.data() + g_size, types.data(), comm);
        break;
      }
      case Way::in_place:
        MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, in.data(), received.data(),
                      into.data(), MPI_INT, comm);
        break;
      case Way::pairs: {  // what are ints to a sender are pairs of shorts to the receiver
        MPI_Datatype pair = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(2, MPI_SHORT, &pair);
        MPI_Type_commit(&pair);
        MPI_Alltoallv(out.data(), sent.data(), from.data(), g_rank % 2 == 0 ? MPI_INT : pair,
                      in.data(), received.data(), into.data(), g_rank % 2 == 0 ? pair : MPI_INT,
                      comm);
        MPI_Type_free(&pair);
        break;
      }
      case Way::nonblocking:
        MPI_Ialltoallv(out.data(), sent.data(), from.data(), MPI_INT, in.data(), received.data(),
                       into.data(), MPI_INT, comm, &request);
        break;
      case Way::persistent:
        if (request == MPI_REQUEST_NULL)
          MPI_Alltoallv_init(out.data(), sent.data(), from.data(), MPI_INT, in.data(),
                             received.data(), into.data(), MPI_INT, comm, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        break;
    }
  }
  void finish() {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in == expected);
    std::fill(in.begin(), in.end(), -1);
  }

  Way way;
  Ints sent, received, from, into, out, in, expected, bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};

using Way = Exchange::Way;

/// Messages that all ranks together have sent in the call.
int run(const Counts& counts, int nth, Way way = Way::v, MPI_Comm comm = MPI_COMM_WORLD) {
  PMPI_Barrier(MPI_COMM_WORLD);
  g_sent = 0;
  Exchange exchange(counts, nth, way);
  exchange.start(comm);
  exchange.finish();
  int mine = g_sent, all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/// Of a communicator of its own: nothing is known of it.
struct Fresh {
  MPI_Comm comm = MPI_COMM_NULL;
  Fresh() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    std::vector<int> all(at(g_size));
    MPI_Allgather(&g_rank, 1, MPI_INT, all.data(), 1, MPI_INT, comm);  // for those in flight
  }
  ~Fresh() { MPI_Comm_free(&comm); }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;
};

int dense(int i, int j) { return 3 + (i * 7 + j * 13) % 50; }
int symmetric(int i, int j) { return 3 + (i * j + i + j) % 20; }
int sparse(int i, int j) { return i == 0 && j == g_size - 1 ? 200 : 0; }
int nothing(int, int) { return 0; }

/// What an exchange of counts takes: of all ranks.
int messages_of_exchange(const Fresh& fresh, const Counts& counts, Way way) {
  const int first = run(counts, 0, way, fresh.comm), second = run(counts, 1, way, fresh.comm);
  CHECK(first == second);
  const int third = run(counts, 2, way, fresh.comm);
  for (int i = 3; i < 12; ++i) CHECK(run(counts, i, way, fresh.comm) == third);
  return first - third;
}

void repeats(Way way, const Counts& counts) {
  const Fresh fresh;
  const int exchanged = messages_of_exchange(fresh, counts, way);
  CHECK(exchanged >= g_size);
}

/// Only two ranks know that the counts are others. `barriers`: there are more messages with another
/// order's phases.
void changes_between_two(bool barriers) {
  const Fresh fresh;
  const int exchanged = messages_of_exchange(fresh, dense, Way::v);
  const auto changed = [](int i, int j) { return i == 0 && j == 1 ? 4000 : dense(i, j); };
  const auto gone = [](int i, int j) { return i == 1 && j == 0 ? 0 : dense(i, j); };
  const int planned = run(changed, 12, Way::v, fresh.comm);
  int with_exchange = 0;
  for (int i = 0; i < 80; ++i) {
    const int sent = run(changed, i, Way::v, fresh.comm);
    CHECK(barriers || sent == planned || sent == planned + exchanged);
    with_exchange += sent == planned ? 0 : 1;
  }
  CHECK(with_exchange >= 1 && (barriers || with_exchange <= 5));
  for (int i = 0; i < 80; ++i) run(gone, i, Way::v, fresh.comm);
}

/// From full to empty and to sparse, at any call.
void anything_while_planned(Way way) {
  const Fresh fresh;
  messages_of_exchange(fresh, symmetric, way);
  const std::vector<Counts> all = {nothing, symmetric, [](int i, int j) { return i == j ? 5 : 0; },
                                   [](int i, int j) { return 100 * (i + j == 1 ? 1 : 0); }};
  for (int i = 0; i < 200; ++i)
    run(all[at(i * i % 4 + (i % 7 == 0 ? 1 : 0)) % 4], i, way, fresh.comm);
}

void in_flight() {
  const Fresh fresh;
  for (int round = 0; round < 30; ++round) {
    std::vector<Exchange> all;
    for (int k = 0; k < 5; ++k)
      all.emplace_back(
          [&](int i, int j) { return k == round % 5 ? sparse(i, j) : dense(i, j) * (1 + k); },
          round + k, Way::nonblocking);
    for (Exchange& one : all) one.start(fresh.comm);
    for (std::size_t k = 0; k < all.size(); ++k) all[(k * 3 + at(g_rank)) % all.size()].finish();
  }
}

/// Its counts are its own: exchanged at the first start.
void persistent() {
  const Fresh fresh;
  Exchange exchange(dense, 1, Way::persistent);
  std::vector<int> sent;
  for (int i = 0; i < 4; ++i) {
    PMPI_Barrier(MPI_COMM_WORLD);
    g_sent = 0;
    exchange.start(fresh.comm);
    MPI_Wait(&exchange.request, MPI_STATUS_IGNORE);
    CHECK(exchange.in == exchange.expected);
    sent.push_back(g_sent);
  }
  MPI_Request_free(&exchange.request);
  CHECK(sent[0] > sent[1]);
  CHECK(sent[1] == sent[2] && sent[2] == sent[3]);
}

/// By the algorithm that the environment names: the messages of three calls.
int count_messages() {
  std::string text = "messages";
  for (int i = 0; i < 3; ++i) text += " " + std::to_string(run(dense, i));
  if (g_rank == 0) std::printf("%s\n", text.c_str());
  MPI_Finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  g_rank = conformance::rank_in(MPI_COMM_WORLD);
  g_size = conformance::size_of(MPI_COMM_WORLD);
  if (argc > 1 && std::string(argv[1]) == "count") return count_messages();
  conformance::force("allgather", "ring");
  for (const std::string spec :
       {"token_list", "token_list:segment=64,window=1", "greedy", "greedy_barriers",
        "all_to_all_based_light_barriers:threshold=0", "edge_colouring_barriers"}) {
    conformance::force("alltoallv", spec);
    for (const Way way : {Way::v, Way::in_place, Way::pairs}) repeats(way, symmetric);
    for (const Counts& counts : {Counts(dense), Counts(sparse), Counts(nothing)})
      repeats(Way::v, counts);
    changes_between_two(spec.find("_barriers") != std::string::npos);
    anything_while_planned(Way::v);
    anything_while_planned(Way::in_place);
    if (!conformance::is_mpich_4_0()) persistent();
    in_flight();
    conformance::force("alltoallw", spec);
    repeats(Way::w, dense);
  }
  conformance::passed("planned_alltoallv", 6 * 300, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
