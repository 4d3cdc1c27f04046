#include "comm/unattached.h"

#include <mutex>
#include <utility>

#include "comm/communicator.h"
#include "mpi/threads.h"

namespace unisono {

namespace {

// No handle of a library; a constant, which MPI_COMM_NULL is not everywhere.
constexpr MPI_Comm kNoComm{};
constexpr MPI_Group kNoGroup{};

// What is being freed earns nothing more, whichever state of it its delete functions meet: which
// one that is depends on when it was attached, which differs between ranks.
constinit thread_local MPI_Comm t_dying = kNoComm;

// Where setting and deleting an attribute takes 4 to 5 % of a communicator that is split from
// another, serves one call and is freed. Elsewhere all that Unisono adds takes 1 to 3 %.
#ifdef OPEN_MPI
constexpr bool kAttributesAreDear = true;
#else
constexpr bool kAttributesAreDear = false;
#endif

/// The one communicator that has served a call and has no attribute yet. Its next call sets it.
///
/// How long it is the same communicator is known exactly, because ranks must count alike: it ends
/// where the program frees it or is given its handle by MPI_Comm_split. A communicator that is
/// freed and made behind our back (PMPI_Comm_free) is told by its group: MPI_Comm_split gives each
/// communicator a group of its own, which is held here, so that no other group can have its handle.
struct Unattached {
  std::mutex mutex;
  MPI_Comm split = kNoComm;  // made by MPI_Comm_split, without a call so far
  MPI_Comm comm = kNoComm;   // in use; otherwise the state is kept for the next
  MPI_Group group = kNoGroup;
  Communicator* state = nullptr;
  bool is_possible = false;  // a group has one handle
};

MPI_Group group_of(MPI_Comm comm) {
  MPI_Group group = kNoGroup;
  return PMPI_Comm_group(comm, &group) == MPI_SUCCESS ? group : kNoGroup;
}

void free_group(MPI_Group group) {
  if (group != kNoGroup) PMPI_Group_free(&group);
}

constinit Unattached g_unattached;

/// No communicator has this handle any more. The mutex is held.
void drop(MPI_Comm comm) {
  Unattached& one = g_unattached;
  if (one.split == comm) one.split = kNoComm;
  if (one.comm != comm) return;
  one.comm = kNoComm;
  free_group(std::exchange(one.group, kNoGroup));
}

/// Whether the handles of groups tell groups apart.
bool has_one_handle(MPI_Group of_world) {
  const MPI_Group again = group_of(MPI_COMM_WORLD);
  free_group(again);
  return again == of_world;
}

}  // namespace

bool is_being_freed(MPI_Comm comm) { return comm == t_dying; }

void start_unattached(MPI_Group world) {
  g_unattached.is_possible = kAttributesAreDear && has_one_handle(world);
}

void stop_unattached() {
  const std::lock_guard lock(g_unattached.mutex);
  drop(g_unattached.comm);
  g_unattached.is_possible = false;
}

Communicator* Communicator::look_up_at_call(MPI_Comm comm) {
  if (!kAttributesAreDear || several_threads()) return look_up(comm);
  Unattached& one = g_unattached;
  {
    const std::lock_guard lock(one.mutex);
    const bool is_new = one.is_possible && comm != kNoComm && one.split == comm;
    if (is_new && one.comm == kNoComm && (one.group = group_of(comm)) != kNoGroup) {
      if (one.state == nullptr)
        one.state = new Communicator(comm);
      else
        one.state->begin_again(comm);
      one.split = kNoComm;
      one.comm = comm;
      return one.state;
    }
  }
  return look_up(comm);
}

/// The state of what has served one call and is about to get its attribute; null: it is another.
Communicator* Communicator::take_unattached(MPI_Comm comm) {
  Unattached& one = g_unattached;
  const std::lock_guard lock(one.mutex);
  if (one.split == comm) one.split = kNoComm;
  if (one.comm != comm) return nullptr;
  const MPI_Group now = group_of(comm);
  const bool same = now == one.group;
  free_group(now);
  free_group(std::exchange(one.group, kNoGroup));
  one.comm = kNoComm;
  return same ? std::exchange(one.state, nullptr) : nullptr;
}

/// A state that has done no more than count calls serves another communicator.
void Communicator::begin_again(MPI_Comm comm) {
  begin(comm);
  calls_in_passing_ = kCallsInPassing;
  knows_reach_ = false;
  complained_ = 0;
  said_.clear();
  strike_off();
  enlist();
}

void after_split(MPI_Comm made) {
  if (!kAttributesAreDear || made == MPI_COMM_NULL) return;
  const std::lock_guard lock(g_unattached.mutex);
  drop(made);
  g_unattached.split = made;
}

CommunicatorFree::CommunicatorFree(MPI_Comm comm) : outer_(std::exchange(t_dying, comm)) {
  if (!kAttributesAreDear || comm == MPI_COMM_NULL) return;
  const std::lock_guard lock(g_unattached.mutex);
  drop(comm);
}

CommunicatorFree::~CommunicatorFree() { t_dying = outer_; }

}  // namespace unisono
