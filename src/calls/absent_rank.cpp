#include "calls/absent_rank.h"

#include <string>

#include "base/say.h"
#include "calls/call_word.h"
#include "calls/sides.h"
#include "node/wait.h"

namespace unisono {

namespace {

/// This rank makes no more calls in the node's memory. Whether the last one ends there, with an
/// error, because it has `failed` or another rank has completed it; else it is the MPI library's.
bool ends_here(Communicator& communicator, bool failed) try {
  Attendance& attendance = communicator.attendance();
  const std::uint64_t first = communicator.team()->end_calls(failed);
  attendance.leave_from(first);
  // Calls before the first one come here again, and are errors.
  if (first <= attendance.call() + 1) communicator.stop_serving();
  return attendance.call() < first;
} catch (const node::RankLost&) {
  communicator.lose_rank();
  return true;
}

/// Whether the MPI library can make a call that this rank has been in: nothing may have been
/// written over what it sends.
bool can_be_repeated(const Communicator& communicator, const Call& call) {
  if (!is_in_place(call, communicator.rank())) return true;
  const Semantics& s = semantics(call.collective);
  const bool keeps_own_block = s.send.shape == SideShape::block && is_per_peer(s.receive.shape);
  return keeps_own_block || s.in_place == InPlace::root_receive;
}

void say_absent(const Communicator& communicator, Collective collective, int rank) {
  say("rank " + std::to_string(rank) + " has left " + mpi_name(collective) +
      " to the MPI library, because of its arguments, where rank " +
      std::to_string(communicator.rank()) + " waited for it on a communicator of " +
      std::to_string(communicator.size()) + " ranks");
}

}  // namespace

std::optional<int> end_differing(Communicator& communicator, const Call& call,
                                 const node::CallsDiffer& differ) {
  const bool goes_on = communicator.attendance().explains_difference(differ.rank) &&
                       can_be_repeated(communicator, call);
  if (!ends_here(communicator, !goes_on)) return std::nullopt;
  say(text_of(differ, communicator.rank(), communicator.size()));
  return error_of(differ);
}

std::optional<int> end_without_rank(Communicator& communicator, const Call& call,
                                    const node::RankAbsent& absent) {
  const bool goes_on = !absent.refused && can_be_repeated(communicator, call);
  if (!ends_here(communicator, !goes_on)) return std::nullopt;
  say_absent(communicator, call.collective, absent.rank);
  return MPI_ERR_OTHER;
}

std::optional<int> end_after_difference(Communicator& communicator, const Call& call,
                                        const node::CallsEnded& ended) {
  const bool goes_on = !ended.inside || can_be_repeated(communicator, call);
  if (!ends_here(communicator, !goes_on)) return std::nullopt;
  say("rank " + std::to_string(communicator.rank()) + " cannot complete " +
      mpi_name(call.collective) +
      ", which follows calls that the ranks have not made alike, on a communicator of " +
      std::to_string(communicator.size()) + " ranks");
  return MPI_ERR_OTHER;
}

std::optional<int> end_flight_without_rank(Communicator& communicator, Collective collective,
                                           std::uint64_t call, const node::RankAbsent& absent) {
  communicator.leave_all();
  communicator.attendance().leave_from(absent.refused ? call + 1 : call);
  if (!absent.refused) return std::nullopt;
  say_absent(communicator, collective, absent.rank);
  return MPI_ERR_OTHER;
}

}  // namespace unisono
