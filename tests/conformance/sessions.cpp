// A session of MPI_THREAD_MULTIPLE beside an MPI_Init of less: one thread calls collectives on the
// session's communicator while the main thread calls some on the world's.
//
//   mpiexec -n P sessions [c | f08 | fortran] [ROUNDS]    who makes the session
#include <array>
#include <map>
#include <string>
#include <thread>

#include "check.h"
#include "fortran_library.h"
#include "tests/thorough.h"

namespace {

bool has_all_threads(MPI_Session session) {
  MPI_Info info;
  MPI_Session_get_info(session, &info);
  std::array<char, 64> level{};
  int length = level.size(), found = 0;
  MPI_Info_get_string(info, "thread_level", &length, level.data(), &found);
  MPI_Info_free(&info);
  return found != 0 && std::string(level.data()) == "MPI_THREAD_MULTIPLE";
}

template <FortranSession* kInit>
int in_fortran(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  MPI_Fint how = MPI_Info_c2f(info), reports = MPI_Errhandler_c2f(handler);
  MPI_Fint made = 0, error = MPI_ERR_OTHER;
  kInit(&how, &reports, &made, &error);
  *session = MPI_Session_f2c(made);
  return error;
}

int init(const std::string& way, MPI_Info info, MPI_Session* session) {
  using Init = int(MPI_Info, MPI_Errhandler, MPI_Session*);
  const std::map<std::string, Init*> ways = {
      {"c", MPI_Session_init},
      {"f08", in_fortran<mpi_session_init_f08_>},
#ifdef OPEN_MPI
      {"fortran", in_fortran<mpi_session_init_>},
#endif
  };
  return ways.at(way)(info, MPI_ERRORS_ARE_FATAL, session);
}

void work(MPI_Comm comm, MPI_Datatype type, int salt, int rounds) {
  const int rank = conformance::rank_in(comm), size = conformance::size_of(comm);
  for (int round = 0; round < rounds; ++round) {
    const std::array<long long, 2> mine = {salt + round + rank, salt};
    std::array<long long, 2> sum = {-1, -1};
    MPI_Allreduce(mine.data(), sum.data(), 1 + salt % 2, MPI_LONG_LONG, MPI_SUM, comm);
    CHECK(sum[0] == static_cast<long long>(size) * (salt + round) + size * (size - 1) / 2);
    CHECK(sum[1] == (salt % 2 == 0 ? -1 : static_cast<long long>(size) * salt));
    std::array<int, 4> data;
    data.fill(rank == 0 ? salt + round : -1);
    MPI_Bcast(data.data(), 2 + salt % 2, type, 0, comm);
    CHECK(data[1] == salt + round);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "c";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : unisono::is_thorough() ? 50000 : 10000;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
  MPI_Session session;
  CHECK(init(way, info, &session) == MPI_SUCCESS);
  MPI_Info_free(&info);
  MPI_Group group;
  MPI_Comm own;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "unisono", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &own);
  MPI_Group_free(&group);
  conformance::force_all();
  const bool several = has_all_threads(session);
  if (several) {
    std::thread other(work, own, MPI_INT, 1001, rounds);
    work(MPI_COMM_WORLD, MPI_FLOAT, 500000, rounds);
    other.join();
  } else {  // the library says that only one may
    work(own, MPI_INT, 1001, rounds / 10);
    work(MPI_COMM_WORLD, MPI_FLOAT, 500000, rounds / 10);
  }
  MPI_Comm_free(&own);
  MPI_Session_finalize(&session);
  if (conformance::rank_in(MPI_COMM_WORLD) == 0)
    std::printf("threads at the same time: %s\n", several ? "yes" : "no");
  // All of them: threads that do not know of each other lose counts.
  const int calls = 4 * (several ? rounds : rounds / 10);
  conformance::passed("sessions", static_cast<unsigned long long>(calls),
                      static_cast<unsigned long long>(calls));
  MPI_Finalize();
  return 0;
}
