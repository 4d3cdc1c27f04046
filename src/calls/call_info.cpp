#include "calls/call_info.h"

#include "mpi/operation.h"

namespace unisono {

constinit std::atomic<bool> g_keeps_runs{false};

bool keeps_order(const Call& call, int ranks) {
  return g_keeps_runs.load(std::memory_order_relaxed) && is_reducing(call.collective) &&
         ranks > 2 && depends_on_order(call.op, facts_of(call.recvtype).kind);
}

std::optional<Count> bytes_among_neighbours(Call call, Communicator& communicator) {
  call.neighbours = communicator.neighbours();
  if (call.neighbours == nullptr) return std::nullopt;
  const auto bytes = signature_bytes(call, communicator.rank(), communicator.size());
  return bytes && !communicator.knows_graph() ? 0 : bytes;
}

}  // namespace unisono
