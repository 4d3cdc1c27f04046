// Nonblocking and persistent collectives on communicators of a session: beside those of MPI_Init,
// in flight when the communicator is freed, done when the session ends, and after MPI_Finalize.
//
//   mpiexec -n P sessions_in_flight
#include "all_kinds.h"

namespace {

using conformance::All;
using conformance::complete;
using conformance::own_calls;

MPI_Session begin() {
  MPI_Session session;
  CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session) == MPI_SUCCESS);
  return session;
}

MPI_Comm all_of(MPI_Session session, const char* tag) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  return comm;
}

/// All kinds in both forms. `frees`: the communicator, while they are in flight.
void in_flight(MPI_Comm comm, int way, bool frees) {
  All persistent(comm, way, true), nonblocking(comm, way);
  persistent.start();  // makes them
  nonblocking.start();
  MPI_Startall(static_cast<int>(persistent.requests.size()), persistent.requests.data());
  if (frees) MPI_Comm_free(&comm);
  complete(nonblocking.requests, way);
  complete(persistent.requests, 0, true);
  nonblocking.see();
  persistent.see();
  for (MPI_Request& request : persistent.requests) MPI_Request_free(&request);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  conformance::force_all();
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  unsigned long long own = own_calls();
  for (int round = 0; round < 3; ++round) {
    MPI_Session session = begin();
    MPI_Comm comm = all_of(session, "round");
    in_flight(comm, round, false);
    in_flight(MPI_COMM_WORLD, round, false);
    in_flight(comm, round, true);
    MPI_Session_finalize(&session);
  }
  if (conformance::has_unisono()) CHECK(own_calls() - own >= 3 * 2 * 17);
  MPI_Session session = begin();
  MPI_Comm kept = all_of(session, "kept"), late = all_of(session, "late");
  in_flight(kept, 0, false);
  conformance::passed("sessions_in_flight", 100, conformance::kAnyNumber);
  own = own_calls();
  MPI_Finalize();
  in_flight(kept, 1, false);
  in_flight(late, 2, false);
  MPI_Comm_free(&late);
  MPI_Comm_free(&kept);
  MPI_Session_finalize(&session);
  own = own_calls() - own;
  if (me == 0) std::printf("sessions_in_flight: %llu after MPI_Finalize\n", own);
  return !conformance::has_unisono() || own == 2 * 2 * 17 ? 0
                                                          : 1;  // there is no MPI_Abort any more
}
