// MPI_Comm_spawn_multiple where some programs run without Unisono: those that have it see that, and
// all calls are the MPI library's, at once. Another job that is spawned beside them, by the same
// launcher, has Unisono everywhere, and uses it.
//
//   mpiexec -n 1 spawned_of_some unisono-exec
#include "check.h"

namespace {

using conformance::rank_in;

void sum_up() {
  int mine = rank_in(MPI_COMM_WORLD), sum = -1;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == 1);
}

/// Of two; `who` of them are to have Unisono: "0", "1" or "both".
void be_child(MPI_Comm parent, const std::string& who) {
  const bool all = who == "both";
  CHECK(conformance::size_of(MPI_COMM_WORLD) == 2);
  CHECK(conformance::has_unisono() == (all || std::to_string(rank_in(MPI_COMM_WORLD)) == who));
  conformance::force_all();
  for (int call = 0; call < 20; ++call) sum_up();
  CHECK((conformance::own_calls() > 0) == all);
  for (int times = 0; times < 2; ++times) MPI_Barrier(parent);
  MPI_Comm_disconnect(&parent);
}

MPI_Comm spawn_two(char* self, char* prefix, std::string who) {
  char* plain[] = {who.data(), nullptr};
  char* prefixed[] = {self, who.data(), nullptr};
  const bool first = who != "1", second = who != "0";
  char* commands[] = {first ? prefix : self, second ? prefix : self};
  char** arguments[] = {first ? prefixed : plain, second ? prefixed : plain};
  const int one_each[] = {1, 1};
  MPI_Info none[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm children = MPI_COMM_NULL;
  MPI_Comm_spawn_multiple(2, commands, arguments, one_each, none, 0, MPI_COMM_SELF, &children,
                          MPI_ERRCODES_IGNORE);
  return children;
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 2);
  MPI_Init(&argc, &argv);
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    be_child(parent, argv[1]);
  } else {
    std::vector<MPI_Comm> jobs;
    // Those before are still there when one begins, and must not be taken for its ranks.
    for (const char* who : {"1", "0", "both"}) {
      jobs.push_back(spawn_two(argv[0], argv[1], who));
      MPI_Barrier(jobs.back());
    }
    for (MPI_Comm& job : jobs) {
      MPI_Barrier(job);
      MPI_Comm_disconnect(&job);
    }
    std::printf("spawned_of_some: passed\n");
  }
  MPI_Finalize();
  return 0;
}
