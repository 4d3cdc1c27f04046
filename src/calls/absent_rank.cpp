#include "calls/absent_rank.h"

#include "base/say.h"
#include "calls/call_word.h"

namespace unisono {

std::optional<int> end_without_rank(Communicator& communicator, Collective collective,
                                    std::uint64_t call, const node::RankAbsent& absent) {
  communicator.leave_all();
  communicator.attendance().leave_from(absent.refused ? call + 1 : call);
  if (!absent.refused) return std::nullopt;
  say("rank " + std::to_string(absent.rank) + " has left " + mpi_name(collective) +
      " to the MPI library, because of its arguments, where rank " +
      std::to_string(communicator.rank()) + " waited for it on a communicator of " +
      std::to_string(communicator.size()) + " ranks");
  return MPI_ERR_OTHER;
}

std::optional<int> end_differing(Communicator& communicator, const node::CallsDiffer& differ) {
  Attendance& attendance = communicator.attendance();
  const bool goes_on = attendance.explains_difference(differ.rank);
  communicator.stop_serving();
  attendance.leave_from(goes_on ? attendance.call() : attendance.call() + 1);
  if (goes_on) return std::nullopt;
  say(text_of(differ, communicator.rank(), communicator.size()));
  return error_of(differ);
}

}  // namespace unisono
