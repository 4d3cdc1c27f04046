#include "calls/call_info.h"

namespace unisono {

std::optional<Count> bytes_among_neighbours(Call call, Communicator& communicator) {
  call.neighbours = communicator.neighbours();
  if (call.neighbours == nullptr) return std::nullopt;
  const auto bytes = signature_bytes(call, communicator.rank(), communicator.size());
  return bytes && !communicator.knows_graph() ? 0 : bytes;
}

}  // namespace unisono
