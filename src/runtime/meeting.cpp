#include "runtime/meeting.h"

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iterator>

#include "base/presence.h"
#include "base/say.h"
#include "mpi/comm.h"

namespace unisono {

namespace {

using Clock = std::chrono::steady_clock;

// All ranks have left MPI_Init at about the same time, but one may stand in a debugger. An absence
// that was seen is certain, unless every rank of a node has a network namespace of its own.
constexpr std::chrono::seconds kPatience{600}, kPatienceWithAbsent{10}, kBeforeWarning{10},
    kForEver = std::chrono::hours(24 * 365);

// Hydra may drop a line that comes just before the end.
constexpr int kForTheLauncher = 200'000;  // us

constexpr const char* kWhatToDo =
    "start every program of the job with unisono-exec or `unisono run`, and have Unisono on every "
    "node";

// Nothing here may throw, so lines are made without memory.
template <class... Values>
void say_line(const char* format, Values... values) {
  char line[400];
  std::snprintf(line, sizeof line, format, values...);
  say_in_need(line);
}

#ifndef UNISONO_FLAVOUR_SMPI  // nobody is missing, and who polls keeps the simulator from going on
/// Waits until all ranks have come, or ends the job.
void wait_for_all(MPI_Request& request, bool speaks, std::chrono::seconds patience) {
  const Clock::time_point begin = Clock::now();
  bool warned = false;
  int done = 0;
  while (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
    sched_yield();
    const auto waited = Clock::now() - begin;
    if (!warned && speaks && waited > kBeforeWarning && patience > kBeforeWarning) {
      say_line("waiting in MPI_Init for ranks that seem to run without Unisono; %s", kWhatToDo);
      warned = true;
    }
    if (waited < patience) continue;
    if (speaks)
      say_line(
          "some ranks run without Unisono, which cannot be seen from here: the job is aborted; %s",
          kWhatToDo);
    usleep(kForTheLauncher);
    PMPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);  // MPICH's returns before its launcher has killed the process
  }
}
#endif

}  // namespace

Meeting meet(const OwnSettings& own) noexcept {
  const int ranks = size_of(MPI_COMM_WORLD);
  const presence::Attendance here = presence::look_around();
  const bool speaks = here.ranks > 0 ? here.speaks : rank_in(MPI_COMM_WORLD) <= 1;
  if (here.absent > 0 && here.ranks == ranks) {
    if (speaks)
      say_line(
          "%d of the job's %d ranks run without Unisono; everything runs in the MPI library; %s",
          here.absent, ranks, kWhatToDo);
    presence::withdraw();
    return Meeting::some_missing;
  }
  unsigned long long extremes[] = {own.variables,
                                   ~own.variables,
                                   own.profile,
                                   ~own.profile,
                                   own.topology,
                                   ~own.topology,
                                   own.can_run ? 0ULL : 1ULL,
                                   own.wrapped,
                                   ~own.wrapped};
  constexpr int kExtremes = std::size(extremes);
#ifdef UNISONO_FLAVOUR_SMPI
  PMPI_Allreduce(MPI_IN_PLACE, extremes, kExtremes, MPI_UNSIGNED_LONG_LONG, MPI_MAX,
                 MPI_COMM_WORLD);
#else
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Iallreduce(MPI_IN_PLACE, extremes, kExtremes, MPI_UNSIGNED_LONG_LONG, MPI_MAX,
                  MPI_COMM_WORLD, &request);
  if (here.absent == 0 && here.ranks == ranks)
    wait_for_all(request, false, kForEver);  // all have been seen: they may stand in a debugger
  else
    wait_for_all(request, speaks,
                 0 < here.absent && here.absent < here.ranks ? kPatienceWithAbsent : kPatience);
#endif
  presence::withdraw();
  if (extremes[6] != 0) return Meeting::some_cannot;
  if (extremes[0] != ~extremes[1]) return Meeting::other_variables;
  if (extremes[2] != ~extremes[3]) return Meeting::other_profile;
  if (extremes[4] != ~extremes[5]) return Meeting::other_topology;
  return extremes[7] == ~extremes[8] ? Meeting::agreed : Meeting::other_wrappers;
}

}  // namespace unisono
