#include "calls/absent_rank.h"

#include <algorithm>
#include <string>

#include "base/say.h"
#include "calls/call_word.h"

namespace unisono {

namespace {

/// All after this call is the MPI library's, but for what another rank has begun in the node's
/// memory: that is an error on the others (end_after_difference).
void leave_after_error(Communicator& communicator, std::uint64_t call) {
  Attendance& attendance = communicator.attendance();
  const std::uint64_t first = std::max(attendance.end_calls(), call + 1);
  attendance.leave_from(first);
  if (first <= attendance.call() + 1) communicator.stop_serving();
}

}  // namespace

std::optional<int> end_without_rank(Communicator& communicator, Collective collective,
                                    std::uint64_t call, const node::RankAbsent& absent) {
  if (!absent.refused) {
    communicator.leave_all();
    communicator.attendance().leave_from(call);
    return std::nullopt;
  }
  leave_after_error(communicator, call);
  say("rank " + std::to_string(absent.rank) + " has left " + mpi_name(collective) +
      " to the MPI library, because of its arguments, where rank " +
      std::to_string(communicator.rank()) + " waited for it on a communicator of " +
      std::to_string(communicator.size()) + " ranks");
  return MPI_ERR_OTHER;
}

std::optional<int> end_differing(Communicator& communicator, const node::CallsDiffer& differ) {
  Attendance& attendance = communicator.attendance();
  if (attendance.explains_difference(differ.rank)) {
    communicator.stop_serving();
    attendance.leave_from(attendance.call());
    return std::nullopt;
  }
  leave_after_error(communicator, attendance.call());
  say(text_of(differ, communicator.rank(), communicator.size()));
  return error_of(differ);
}

std::optional<int> end_after_difference(Communicator& communicator, const node::CallsEnded& ended) {
  if (ended.begun) return MPI_ERR_OTHER;
  communicator.stop_serving();
  return std::nullopt;
}

}  // namespace unisono
