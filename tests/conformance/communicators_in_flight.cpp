// Communicators made in every way, used by nonblocking and persistent collectives of Unisono, and
// freed while these are in flight. Memory stays what it is: after N of them the process has hardly
// more than after N / 10. At the end some are made by MPI_Comm_idup, while others are in flight.
//
//   mpiexec -n P communicators_in_flight [N]
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "check.h"
#include "tests/thorough.h"

namespace {

using conformance::rank_in;
using conformance::size_of;

MPI_Comm make(int round) {
  MPI_Comm made = MPI_COMM_NULL;
  const int me = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  switch (round % 4) {
    case 0: MPI_Comm_dup(MPI_COMM_WORLD, &made); break;
    case 1: MPI_Comm_split(MPI_COMM_WORLD, 0, size - me, &made); break;
    case 2: {
      MPI_Group group;
      MPI_Comm_group(MPI_COMM_WORLD, &group);
      MPI_Comm_create_group(MPI_COMM_WORLD, group, round, &made);
      MPI_Group_free(&group);
      break;
    }
    default: {
      const int periodic = 1;
      MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &made);
    }
  }
  return made;
}

/// The persistent request makes what the nonblocking one needs.
void use(MPI_Comm comm, int round) {
  const int p = size_of(comm);
  int mine = round + rank_in(comm), sums[2] = {-1, -1}, word = rank_in(comm) == 0 ? round : -1;
  MPI_Request requests[3];
  MPI_Allreduce_init(&mine, &sums[0], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
  MPI_Start(&requests[0]);
  MPI_Iallreduce(&mine, &sums[1], 1, MPI_INT, MPI_SUM, comm, &requests[1]);
  MPI_Ibcast(&word, 1, MPI_INT, 0, comm, &requests[2]);
  MPI_Comm_free(&comm);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  CHECK(sums[0] == p * round + p * (p - 1) / 2 && sums[1] == sums[0] && word == round);
  MPI_Request_free(&requests[0]);
}

/// Made while another call is in flight; not the other way round, and not freed in flight: Open MPI
/// (5.0.11) mixes up or crashes, and after MPI_Comm_idup calls on new communicators are its own.
void use_duplicate(int round) {
  const int p = size_of(MPI_COMM_WORLD), me = rank_in(MPI_COMM_WORLD);
  int mine = round + me, sums[3] = {-1, -1, -1};
  MPI_Comm made;
  MPI_Request requests[2];
  MPI_Iallreduce(&mine, &sums[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Comm_idup(MPI_COMM_WORLD, &made, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Allreduce_init(&mine, &sums[1], 1, MPI_INT, MPI_SUM, made, MPI_INFO_NULL, &requests[0]);
  MPI_Start(&requests[0]);
  MPI_Iallreduce(&mine, &sums[2], 1, MPI_INT, MPI_SUM, made, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (const int sum : sums) CHECK(sum == p * round + p * (p - 1) / 2);
  MPI_Request_free(&requests[0]);
  MPI_Comm_free(&made);
}

// An MPI library keeps a few bytes of some communicators for ever. What it allocates once, when the
// other rank is late, grows one or two of these parts of the rounds; what is lost with each
// communicator grows all.
constexpr std::size_t kMostKept = 64;
constexpr int kParts = 4;
constexpr int kDuplicates = 50;

struct Memory {
  std::size_t allocated, resident;  // bytes
};

Memory memory() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return {mallinfo2().uordblks, resident * 4096};
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : unisono::is_thorough() ? 3000 : 800;
  conformance::force("allreduce", "ring");
  conformance::force("bcast", "chain");
  const unsigned long long before = conformance::own_calls();
  Memory before_part{};
  std::size_t least_growth = SIZE_MAX;
  for (int part = 0; part <= kParts; ++part) {  // the first one warms up
    for (int round = 0; round < rounds / (kParts + 1); ++round) {
      const int number = part * (rounds / (kParts + 1)) + round;
      use(make(number), number);
    }
    const Memory now = memory();
    const std::size_t growth = now.allocated - std::min(now.allocated, before_part.allocated);
    if (part > 0) least_growth = std::min(least_growth, growth);
    if (rank_in(MPI_COMM_WORLD) == 0)
      std::printf("part %d: %zu bytes allocated, %zu resident\n", part, now.allocated,
                  now.resident);
    before_part = now;
  }
  const auto calls = 3 * static_cast<unsigned long long>(rounds);
  if (conformance::has_unisono()) CHECK(conformance::own_calls() - before == calls);
  CHECK(least_growth < kMostKept * static_cast<std::size_t>(rounds / (kParts + 1)));
  for (int round = 0; round < kDuplicates; ++round) use_duplicate(round);
  conformance::passed("communicators_in_flight", calls, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
