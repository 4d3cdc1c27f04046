// Processes that are spawned: parents and children each have their MPI_COMM_WORLD, on which Unisono
// runs; collectives between them, and those on what MPI_Intercomm_merge makes of both, are the MPI
// library's, in every form; on a part of the merged one that is of one world they are Unisono's.
//
//   mpiexec -n P spawned [children [prefix of their command...]]
//
// Where the children's Unisono is switched off all of theirs is the MPI library's.
#include <algorithm>

#include "all_kinds.h"

namespace {

using conformance::All;
using conformance::complete;
using conformance::own_calls;
using conformance::rank_in;
using conformance::size_of;

/// All kinds in both forms; how many of them Unisono has run.
unsigned long long in_all_forms(MPI_Comm comm) {
  const unsigned long long before = own_calls();
  int mine = rank_in(comm), sum = -1;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == size_of(comm) * (size_of(comm) - 1) / 2);
  MPI_Request request;
  MPI_Ibarrier(comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(comm);
  for (int way : {0, 4}) {
    All all(comm, way);
    all.start();
    complete(all.requests, way);
    all.see();
  }
  All all(comm, 1, true);
  all.start();
  for (int round = 0; round < 2; ++round) {
    all.supply();
    MPI_Startall(static_cast<int>(all.requests.size()), all.requests.data());
    complete(all.requests, 0, true);
    all.see();
  }
  for (MPI_Request& one : all.requests) MPI_Request_free(&one);
  return own_calls() - before;
}

bool unisono_runs() {
  return conformance::has_unisono() && std::getenv("UNISONO_DISABLE") == nullptr;
}

/// Of the ranks of both groups.
void between(MPI_Comm inter, bool is_parent) {
  int others = 0, sum = -1, mine = 1 + rank_in(inter), word = is_parent ? 42 : -1;
  MPI_Comm_remote_size(inter, &others);
  const int wanted = others * (others + 1) / 2;
  const int root = !is_parent ? 0 : rank_in(inter) == 0 ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Bcast(&word, 1, MPI_INT, root, inter);
  CHECK(word == 42);
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter);
  CHECK(sum == wanted);
  MPI_Request requests[2];
  sum = word = -1;
  if (is_parent) word = 43;
  MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter, &requests[0]);
  MPI_Ibcast(&word, 1, MPI_INT, root, inter, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(sum == wanted && word == 43);
  MPI_Barrier(inter);
}

void meet(MPI_Comm inter, bool is_parent) {
  unsigned long long own = own_calls();
  between(inter, is_parent);
  CHECK(own_calls() == own);
  MPI_Comm merged, half;
  MPI_Intercomm_merge(inter, is_parent ? 0 : 1, &merged);
  CHECK(in_all_forms(merged) == 0);
  // Of the others nobody here knows where they are, whatever a file says of one's own.
  const int two[] = {0, 1};
  if (conformance::has_unisono()) CHECK(unisono_open_group(merged, 2, two) != 0);
  MPI_Comm_split(merged, is_parent ? 0 : 1, rank_in(merged), &half);
  own = in_all_forms(half);
  if (unisono_runs() && size_of(half) > 1) CHECK(own > 17);
  MPI_Comm_free(&half);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&inter);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  conformance::force_all();
  in_all_forms(MPI_COMM_WORLD);
  MPI_Comm parent, children;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    meet(parent, false);
  } else {
    const int count = argc > 1 ? std::atoi(argv[1]) : 2;
    std::vector<char*> command(argv + std::min(argc, 2), argv + argc);
    command.insert(command.end(), {argv[0], nullptr});
    MPI_Comm_spawn(command[0], command.data() + 1, count, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                   &children, MPI_ERRCODES_IGNORE);
    meet(children, true);
  }
  in_all_forms(MPI_COMM_WORLD);
  const bool runs = unisono_runs() && size_of(MPI_COMM_WORLD) > 1;
  conformance::passed(parent != MPI_COMM_NULL ? "spawned child" : "spawned", runs ? 100 : 0,
                      conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
