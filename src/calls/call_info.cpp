#include "calls/call_info.h"

#include "mpi/operation.h"

namespace unisono {

constinit std::atomic<bool> g_keeps_runs{false};

bool keeps_order(const Call& call, int ranks) {
  return g_keeps_runs.load(std::memory_order_relaxed) && is_reducing(call.collective) &&
         depends_on_order(call.op, facts_of(call.recvtype).kind, ranks);
}

void leave_now(Communicator& communicator) {
  Attendance& attendance = communicator.attendance();
  if (!attendance.is_shared()) return attendance.refuse();
  communicator.leave_all();
  attendance.leave_from(attendance.call());
}

CallInfo leave(Call call, Communicator& communicator) {
  if (is_among_neighbours(call.collective)) call.neighbours = communicator.neighbours();
  const int rank = communicator.rank();
  const bool has_counts =
      call.collective != Collective::allgatherv || (call.recvcounts && call.recvcounts[rank] >= 0);
  const bool is_valid = call.sendcount >= 0 && call.recvcount >= 0 && has_counts &&
                        call.sendtype != MPI_DATATYPE_NULL && call.recvtype != MPI_DATATYPE_NULL;
  // Two ranks see both lengths, and leave that call alike.
  const bool may_differ = call.neighbours != nullptr && communicator.size() > 2;
  const bool has_two =
      has_two_lengths(call, rank) || (may_differ && has_edges_of_two_lengths(call, rank));
  if (is_valid && has_two) {
    const bool is_open = is_among_neighbours(call.collective) && !communicator.knows_graph();
    const Count bytes = is_open ? 0 : received_bytes(call, rank);
    if (!communicator.attendance().is_shared() && communicator.reach(call.collective).holds(bytes))
      return {.communicator = &communicator, .bytes = bytes, .leaves = true};
    leave_now(communicator);
  } else {
    communicator.attendance().refuse();
  }
  count(g_native_calls);
  return {};
}

std::optional<Count> bytes_among_neighbours(Call call, Communicator& communicator) {
  call.neighbours = communicator.neighbours();
  if (call.neighbours == nullptr) return std::nullopt;
  const auto bytes = signature_bytes(call, communicator.rank(), communicator.size());
  return bytes && !communicator.knows_graph() ? 0 : bytes;
}

}  // namespace unisono
