// Programs that do not end as they should, with forced algorithms in use. endings_test.py looks at
// what becomes of them.
//
//   mpiexec -n P endings {exit | finalize-only | abort | unfreed | attribute |
//                         {abort | exit | kill}-in-{collective | flight} |
//                         {pmpi-first | pmpi-others}[-attribute]}
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <optional>

#include "check.h"

namespace {

void collectives() {
  for (int i = 0; i < 10; ++i) {
    int value = i, sum = 0;
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == i * conformance::size_of(MPI_COMM_WORLD));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// Nonblocking and persistent ones, whose requests are never freed.
class InFlight {
 public:
  InFlight() {
    for (int i = 0; i < kEach; ++i)
      MPI_Allreduce_init(&one_, &sums_[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &requests_[i]);
  }
  void start_and_wait() {
    MPI_Startall(kEach, requests_);
    for (int i = kEach; i < 2 * kEach; ++i)
      MPI_Iallreduce(&one_, &sums_[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests_[i]);
    MPI_Waitall(2 * kEach, requests_, MPI_STATUSES_IGNORE);
    for (const int sum : sums_) CHECK(sum == conformance::size_of(MPI_COMM_WORLD));
  }

 private:
  static constexpr int kEach = 20;
  int one_ = 1, sums_[2 * kEach] = {};
  MPI_Request requests_[2 * kEach];
};

/// Of an attribute on MPI_COMM_SELF, with which MPI_Finalize and PMPI_Finalize begin. MPI is whole
/// then, and so is Unisono, on all ranks.
int collectives_at_the_end(MPI_Comm, int, void*, void*) {
  const unsigned long long own = conformance::own_calls();
  collectives();
  if (conformance::has_unisono()) CHECK(conformance::own_calls() == own + 30);
#ifdef OPEN_MPI
  // MPICH has no turns any more: docs/guide/getting-started.md says what comes of that.
  InFlight().start_and_wait();
#endif
  const int one = 1;
  int alone = 0;
  MPI_Allreduce(&one, &alone, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  CHECK(alone == 1);
  return MPI_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "exit";
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) return 1;
  MPI_Init(&argc, &argv);
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  if (way != "finalize-only") {
    conformance::force_all();
    collectives();
    conformance::passed("endings", 30, 30);
    std::fflush(stdout);
  }
  if (way == "exit") return 0;  // neither MPI_Finalize nor MPI_Comm_free
  if (way == "abort") {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Abort(MPI_COMM_WORLD, 17);
  }
  const bool in_flight = way.ends_with("-in-flight");
  std::optional<InFlight> requests;
  if (in_flight || way == "unfreed") requests.emplace();
  if ((in_flight || way.ends_with("-in-collective")) && me == 0) {
    usleep(300000);  // the others wait by then
    if (way.starts_with("abort")) MPI_Abort(MPI_COMM_WORLD, 17);
    if (way.starts_with("kill")) raise(SIGKILL);
    _exit(23);
  }
  if (in_flight) requests->start_and_wait();
  if (way.ends_with("-in-collective")) MPI_Barrier(MPI_COMM_WORLD);
  if (way == "unfreed") {
    // Communicators, and requests, that the program never frees.
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &comm);
    MPI_Barrier(comm);
  }
  if (way.ends_with("attribute")) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, collectives_at_the_end, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    MPI_Comm_free_keyval(&key);
  }
  // The others by MPI_Finalize.
  const bool by_pmpi = way.starts_with(me == 0 ? "pmpi-first" : "pmpi-others");
  by_pmpi ? PMPI_Finalize() : MPI_Finalize();
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0 ? 0 : 1;
}
