// On two nodes of several ranks each (made_up_nodes.c): Unisono sends no message from rank to rank
// in MPI_Init, but where it is asked for what the network costs ("asked"). Then none within a node
// is longer than 4 KiB: MPI libraries copy longer ones from process to process, which a system may
// forbid. What the program defines as PMPI_* is called by Unisono.
#include <algorithm>

#include "check.h"
#include "next_function.h"

namespace {

bool g_counts = false;
int g_within = 0, g_between = 0, g_longest = 0;

int place_in_world(int rank, MPI_Comm comm) {
  MPI_Group group, world;
  PMPI_Comm_group(comm, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  int place = MPI_UNDEFINED;
  PMPI_Group_translate_ranks(group, 1, &rank, world, &place);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return place;
}

void note(int count, MPI_Datatype type, int to, MPI_Comm comm) {
  if (!g_counts) return;
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  const int apart = place_in_world(to, comm) - conformance::rank_in(MPI_COMM_WORLD);
  const bool within = apart % 2 == 0;  // every other rank is on the other node
  ++(within ? g_within : g_between);
  if (!within) return;
  g_longest = std::max(g_longest, bytes * count);
}

}  // namespace

#define NOTED(name, parameters, arguments)                                       \
  extern "C" __attribute__((visibility("default"))) int PMPI_##name parameters { \
    note(count, type, to, comm);                                                 \
    static const auto found = next_function<int parameters>("PMPI_" #name);      \
    return found arguments;                                                      \
  }

NOTED(Send, (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),
      (data, count, type, to, tag, comm))
NOTED(Isend,
      (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
       MPI_Request* request),
      (data, count, type, to, tag, comm, request))
NOTED(Sendrecv,
      (const void* data, int count, MPI_Datatype type, int to, int tag, void* into, int most,
       MPI_Datatype got, int from, int received, MPI_Comm comm, MPI_Status* status),
      (data, count, type, to, tag, into, most, got, from, received, comm, status))

int main(int argc, char** argv) {
  g_counts = true;
  MPI_Init(&argc, &argv);
  g_counts = false;
  constexpr int kMostBytes = 4 << 10;
  CHECK(g_longest <= kMostBytes);
  const int mine[] = {g_within, g_between};
  int all[2] = {};
  PMPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const bool asked = argc > 1;
  CHECK((all[0] > 0) == asked);
  CHECK((all[1] > 0) == asked);
  conformance::force_all();
  int me = conformance::rank_in(MPI_COMM_WORLD), sum = 0;
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  conformance::passed("messages_within", 1, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
