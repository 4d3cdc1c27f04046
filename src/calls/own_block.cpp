#include "calls/own_block.h"

#include <cstring>
#include <vector>

#include "calls/signature.h"
#include "mpi/datatype.h"

namespace unisono {

int put_own_block(Call& call, int rank) {
  const TypeFacts &sent = facts_of(call.sendtype), &received = facts_of(call.recvtype);
  const bool is_listed = is_irregular(semantics(call.collective).receive.shape);
  const Count first = is_listed ? call.rdispls[rank] : rank * call.recvcount;
  auto* block = static_cast<std::byte*>(call.recvbuf) + first * received.extent;
  const auto* from = static_cast<const std::byte*>(call.sendbuf);
  std::vector<std::byte> packed(static_cast<std::size_t>(sent_bytes(call)));
  int code = pack_elements(from, call.sendcount, call.sendtype, sent, packed.data());
  if (code != MPI_SUCCESS) return code;
  // The last element may be there in part.
  const Count elements = (sent_bytes(call) + received.size - 1) / received.size;
  std::vector<std::byte> whole(static_cast<std::size_t>(elements * received.size));
  code = pack_elements(block, elements, call.recvtype, received, whole.data());
  if (code != MPI_SUCCESS) return code;
  std::memcpy(whole.data(), packed.data(), packed.size());
  code = unpack_elements(whole.data(), block, elements, call.recvtype, received);
  call.sendbuf = MPI_IN_PLACE;
  return code;
}

}  // namespace unisono
