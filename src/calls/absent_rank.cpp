#include "calls/absent_rank.h"

#include <string>

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
  const Attendance::Difference why = attendance.difference_to(differ.rank);
  const bool goes_on = why == Attendance::Difference::left;
  // What another rank has begun in the node's memory after this call is an error here
  // (end_after_difference).
  const std::uint64_t first = why == Attendance::Difference::of_calls ? attendance.end_calls()
                              : goes_on                               ? attendance.call()
                                                                      : attendance.call() + 1;
  attendance.leave_from(first);
  if (first <= attendance.call() + 1) communicator.stop_serving();
  if (goes_on) return std::nullopt;
  say(text_of(differ, communicator.rank(), communicator.size()));
  return error_of(differ);
}

std::optional<int> end_after_difference(Communicator& communicator, const node::CallsEnded& ended) {
  if (ended.begun) return MPI_ERR_OTHER;
  communicator.stop_serving();
  return std::nullopt;
}

}  // namespace unisono
