// Collectives while a duplicate that MPI_Comm_idup makes is under way. Rank 0 has asked for it
// before a collective on another communicator, the others ask for it afterwards, as MPI allows:
// what Unisono makes for that other communicator must not wait for the duplicate.
#include "check.h"

namespace {

constexpr int kInts = 2000, kBefore = 10;

void sum(MPI_Comm comm) {
  const std::vector<int> ones(kInts, 1);
  std::vector<int> sums(kInts, -1);
  MPI_Allreduce(ones.data(), sums.data(), kInts, MPI_INT, MPI_SUM, comm);
  CHECK(sums.front() == conformance::size_of(comm) && sums.back() == sums.front());
}

using Duplicate = int(MPI_Comm, MPI_Comm*, MPI_Request*);

int with_info(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  return MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, made, request);
}

int with_info_by_pmpi(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  return PMPI_Comm_idup_with_info(comm, MPI_INFO_NULL, made, request);
}

/// Of the older of two communicators, or of the younger one.
void of_another(Duplicate* duplicate, bool of_older) {
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  MPI_Comm older = MPI_COMM_NULL, younger = MPI_COMM_NULL, made = MPI_COMM_NULL;
  for (MPI_Comm* comm : {&older, &younger}) MPI_Comm_dup(MPI_COMM_WORLD, comm);
  const MPI_Comm duplicated = of_older ? older : younger, other = of_older ? younger : older;
  MPI_Request request = MPI_REQUEST_NULL;
  if (me != 0) sum(other);
  duplicate(duplicated, &made, &request);
  if (me == 0) sum(other);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  sum(made);
  for (MPI_Comm* comm : {&older, &younger, &made}) MPI_Comm_free(comm);
}

/// Three of one communicator, on which the collective is as well.
void of_the_same(Duplicate* duplicate) {
  MPI_Comm comm = MPI_COMM_NULL, made[3];
  MPI_Request requests[3];
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < 3; ++i) duplicate(comm, &made[i], &requests[i]);
  sum(comm);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  for (MPI_Comm& one : made) {
    sum(one);
    MPI_Comm_free(&one);
  }
  MPI_Comm_free(&comm);
}

}  // namespace

// One way in a job: what is made for a communicator once a duplicate may be under way, or nothing,
// is the same for all of them.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  conformance::force("allreduce", "ring");
  for (int i = 0; i < kBefore; ++i) sum(MPI_COMM_WORLD);
  const std::string way = argc > 1 ? argv[1] : "plain";
  Duplicate* const duplicate = way == "info"        ? with_info
                               : way == "pmpi"      ? PMPI_Comm_idup
                               : way == "info_pmpi" ? with_info_by_pmpi
                                                    : MPI_Comm_idup;
  for (const bool of_older : {true, false}) of_another(duplicate, of_older);
  of_the_same(duplicate);
  sum(MPI_COMM_WORLD);
  conformance::passed("duplicates_under_way", kBefore + 1, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
