#include "runtime/meeting.h"

#include <mpi.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "base/meeting_words.h"
#include "base/presence.h"
#include "base/say.h"
#include "mpi/comm.h"
#include "mpi/patience.h"
#include "mpi/simulated.h"
#include "mpi/threads.h"

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
    "start every program of the job with unisono-exec or `unisono run`, have Unisono on every "
    "node, "
    "and set UNISONO_DISABLE on all ranks or on none";

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
  for (int looks = 0; PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0;
       ++looks) {
    rest(looks);
    presence::admit();
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

using Words = std::array<unsigned long long, kMeetingWords>;

/// Whether all have said the same.
bool all_same(const Words& words, MeetingWord pair) { return words[pair] == ~words[pair + 1]; }

// Of a simulated job nothing is taken for granted: what its beginning costs stays what it was.
JobPlace job_place(const Words& words) {
  if (kSimulated) return {};
  return {.all_alone = words[kHasCompany] == 0,
          .all_together = words[kHasOthersElsewhere] == 0,
          .one_library = all_same(words, kSameLibrary),
          .one_kernel = all_same(words, kSameKernel),
          .one_affinity = all_same(words, kSameAffinity),
          .fabric = words[kHasFabric] != 0,
          .port = static_cast<int>(words[kFastestPort]),
          .cores = static_cast<int>(~words[kFewestCores])};
}

void say_why_natively(const presence::Attendance& here) {
  if (here.usurped)
    say_line(
        "another user's process pretends to be one of this job's ranks; everything runs in the "
        "MPI library; `ss -xlp`, as root, shows who listens on the names @unisono-*");
  else if (here.absent == here.ranks)
    say_line(
        "the ranks cannot see one another, since sockets without a file (unix(7), abstract) or "
        "more open files are refused to them; everything runs in the MPI library");
  else
    say_line("%d of the job's %d ranks run without Unisono; everything runs in the MPI library; %s",
             here.absent, here.ranks, kWhatToDo);
}

}  // namespace

Meeting meet(const OwnSettings& own, JobPlace& job) noexcept {
  const int ranks = size_of(MPI_COMM_WORLD);
  const presence::Attendance here = presence::look_around();
  const bool speaks = here.ranks > 0 ? here.speaks : rank_in(MPI_COMM_WORLD) <= 1;
  if (here.absent > 0 && here.ranks == ranks) {
    if (speaks) say_why_natively(here);
    return Meeting::some_missing;
  }
  Words words{};
  const auto say_both = [&words](MeetingWord at, std::uint64_t value) {
    words[at] = value;
    words[at + 1] = ~value;
  };
  say_both(kSameVersion, own.version);
  say_both(kSameVariables, own.variables);
  say_both(kSameProfile, own.profile);
  say_both(kSameTopology, own.topology);
  say_both(kSameWrappers, own.wrapped);
  words[kCannot] = own.can_run ? 0 : 1;
  words[kHasSession] = g_session_threads ? 1 : 0;
  words[kHasCompany] = here.ranks == 1 ? 0 : 1;
  words[kHasOthersElsewhere] = here.ranks == ranks ? 0 : 1;
  words[kHasFabric] = own.place.fabric ? 1 : 0;
  words[kFastestPort] = static_cast<std::uint64_t>(own.place.port);
  words[kFewestCores] = ~static_cast<std::uint64_t>(own.place.cores);
  say_both(kSameLibrary, own.place.library);
  say_both(kSameKernel, own.place.kernel);
  say_both(kSameAffinity, own.place.affinity);
#ifdef UNISONO_FLAVOUR_SMPI
  PMPI_Allreduce(MPI_IN_PLACE, words.data(), kMeetingWords, MPI_UNSIGNED_LONG_LONG, MPI_MAX,
                 MPI_COMM_WORLD);
#else
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Iallreduce(MPI_IN_PLACE, words.data(), kMeetingWords, MPI_UNSIGNED_LONG_LONG, MPI_MAX,
                  MPI_COMM_WORLD, &request);
  if (here.absent == 0 && here.ranks == ranks)
    wait_for_all(request, false, kForEver);  // all have been seen: they may stand in a debugger
  else
    wait_for_all(request, speaks,
                 0 < here.absent && here.absent < here.ranks ? kPatienceWithAbsent : kPatience);
#endif
  presence::withdraw();
  if (!all_same(words, kSameVersion)) return Meeting::other_version;
  if (words[kCannot] != 0) return Meeting::some_cannot;
  if (words[kHasSession] != 0) return Meeting::some_session;
  if (!all_same(words, kSameVariables)) return Meeting::other_variables;
  if (!all_same(words, kSameProfile)) return Meeting::other_profile;
  if (!all_same(words, kSameTopology)) return Meeting::other_topology;
  if (!all_same(words, kSameWrappers)) return Meeting::other_wrappers;
  job = job_place(words);
  return Meeting::agreed;
}

std::string problem_of(Meeting meeting) {
  const auto native = [](const std::string& why) {
    return why + "; everything runs in the MPI library";
  };
  switch (meeting) {
    case Meeting::agreed:
    case Meeting::some_missing: return "";
    case Meeting::other_version:
      return native("two versions of Unisono are under the ranks: start all with one unisono-exec");
    case Meeting::some_cannot: return native("some ranks cannot run Unisono, as they say");
    // Of its communicators' calls some ranks may make one before their MPI_Init is over, and others
    // afterwards; and which communicators are a session's, MPI does not tell.
    case Meeting::some_session: return native("some ranks have made a session before MPI_Init");
    case Meeting::other_variables:
      return native(
          "the UNISONO_* variables are not the same on all ranks: set them alike (mpiexec -genv or "
          "-x)");
    case Meeting::other_wrappers:
      return native(
          "some programs of the job have a profiler's collectives linked in, and others not");
    case Meeting::other_topology:
      return native(
          "UNISONO_TOPOLOGY: the file is not the same on all ranks: name it on all of them "
          "(mpiexec -genv or -x), and give every node the same file");
    case Meeting::other_profile:
      return native(
          "UNISONO_PROFILE: the profile is not the same on all ranks: name it on all of them "
          "(mpiexec -genv or -x), and give every node the same file");
  }
  return "";
}

}  // namespace unisono
