// Collectives in the delete function of an attribute of MPI_COMM_SELF, with which MPI_Finalize
// begins: in all three forms, on MPI_COMM_WORLD and on a communicator that is made there, and by a
// persistent request that was made before. MPICH (5.0.2) moves nothing by itself any more then.
//
//   mpiexec -n P self_attributes

#include "check.h"

namespace {

using conformance::rank_in;

MPI_Request g_persistent = MPI_REQUEST_NULL;
int g_mine = 0, g_sum = 0;
bool g_has_ended = false;

int sum_of_ranks(MPI_Comm comm) {
  const int size = conformance::size_of(comm);
  return size * (size - 1) / 2;
}

void wait_for(MPI_Request& request, const int& sum) {
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == sum_of_ranks(MPI_COMM_WORLD));
}

void start_persistent() {
  g_mine = rank_in(MPI_COMM_WORLD);
  g_sum = -1;
  MPI_Start(&g_persistent);
  wait_for(g_persistent, g_sum);
}

void call_in_all_forms(MPI_Comm comm) {
  const int mine = rank_in(comm);
  int sum = -1;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == sum_of_ranks(comm));
  MPI_Request request = MPI_REQUEST_NULL;
  sum = -1;
  MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  wait_for(request, sum);
  sum = -1;
  MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  wait_for(request, sum);
  MPI_Request_free(&request);
}

int at_the_end(MPI_Comm, int, void*, void*) {
  call_in_all_forms(MPI_COMM_WORLD);
  start_persistent();
  MPI_Request_free(&g_persistent);
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  for (int i = 0; i < 2; ++i) call_in_all_forms(made);
  MPI_Comm_free(&made);
  // Four before the end and three blocking ones here, at least.
  conformance::passed("self_attributes", 7, 13);
  g_has_ended = true;
  return MPI_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  conformance::force_all();
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  call_in_all_forms(MPI_COMM_WORLD);
  MPI_Allreduce_init(&g_mine, &g_sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &g_persistent);
  start_persistent();
  MPI_Finalize();
  return g_has_ended ? 0 : 1;
}
