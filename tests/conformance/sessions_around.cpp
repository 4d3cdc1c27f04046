// Threads in calls on a session's communicator while the main thread is in MPI_Init or
// MPI_Finalize, which ranks enter and leave at different times.
//
//   mpiexec -n P sessions_around before    the session is made before MPI_Init: nothing is run
//   mpiexec -n P sessions_around after     after it: all is, MPI_Finalize or not
#include <unistd.h>

#include <cstring>
#include <thread>

#include "check.h"

namespace {

constexpr int kCount = 2000;

struct Session {
  MPI_Session handle;
  MPI_Comm comm;
  int me, p;

  Session() {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &handle);
    MPI_Info_free(&info);
    MPI_Group group;
    MPI_Group_from_session_pset(handle, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "unisono", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    me = conformance::rank_in(comm);
    p = conformance::size_of(comm);
  }
  void end() {
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&handle);
  }
};

/// What is wrong ends the job: MPI_COMM_WORLD may be gone.
void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "sessions_around: %s\n", what);
  std::abort();
}

/// The elements of the second call have gaps.
void work(const Session& session, MPI_Datatype second, int rounds) {
  const auto [handle, comm, me, p] = session;
  std::vector<long> mine(kCount), sum(kCount);
  std::vector<int> data(kCount);
  for (int round = 0; round < rounds; ++round) {
    mine.assign(kCount, round + me);
    MPI_Allreduce(mine.data(), sum.data(), kCount, MPI_LONG, MPI_SUM, comm);
    require(sum[7] == static_cast<long>(p) * round + p * (p - 1) / 2, "a wrong sum");
    const int root = round % p;
    data.assign(kCount, me == root ? round : -1);
    MPI_Bcast(data.data(), 1, second, root, comm);
    require(data[8] == round && (me == root || data[9] == -1), "a wrong value");
    if (round % 50 == 0) usleep(100);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool before = argc > 1 && std::strcmp(argv[1], "before") == 0;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3000, more = 100;
  int provided = 0;
  if (!before) MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  Session session;
  if (!before) conformance::force_all();
  MPI_Datatype second;
  MPI_Type_vector(kCount / 2, 1, 2, MPI_INT, &second);
  MPI_Type_commit(&second);
  std::thread other(work, session, second, rounds);
  if (before) {
    usleep(static_cast<unsigned>(20'000 * (session.me + 1)));
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  }
  int sum = 0;
  const int one = 1;
  for (int i = 0; i < more; ++i) {
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    require(sum == session.p, "a wrong sum of the world's");
  }
  usleep(static_cast<unsigned>(30'000 * (session.me + 1)));
  MPI_Finalize();
  other.join();
  work(session, second, more);
  MPI_Type_free(&second);
  const unsigned long long own = conformance::own_calls();
  const auto all = static_cast<unsigned long long>(2 * (rounds + more) + more);
  session.end();
  if (session.me == 0) std::printf("sessions_around: %llu of %llu in Unisono\n", own, all);
  require(own == (before ? 0 : all), "the MPI library ran other calls than it should");
  if (session.me == 0) std::puts("sessions_around: passed");
  return 0;
}
