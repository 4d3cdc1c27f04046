#include "exec/shm_transport.h"

namespace unisono {

int ShmTransport::start(const Message& message, std::vector<OpId>& completed,
                        std::uint32_t& portions) {
  const Count unit = message.slots ? Count{sizeof(std::int32_t)} : channel_.unit_bytes;
  const auto bytes = static_cast<std::size_t>(message.units * unit);
  std::byte* where = bytes == 0 ? nullptr : message.where + (message.slots ? 0 : channel_.true_lb);
  const int tag = channel_.first_tag + static_cast<int>(message.position % kChannelDepth);
  ++portions;
  if (message.kind == OpKind::send)
    channel_.messenger->send(message.peer, tag, where, bytes, {&completed, message.op});
  else
    channel_.messenger->recv(message.peer, tag, where, bytes, {&completed, message.op});
  return channel_.messenger->take_truncated() ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

int ShmTransport::progress(std::vector<OpId>&, bool, bool& moved) {
  moved = channel_.messenger->progress() || moved;
  return channel_.messenger->take_truncated() ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

bool ShmTransport::wait() {
  channel_.messenger->wait();
  return true;
}

// As often as a wait does.
void ShmTransport::look_around() {
  constexpr unsigned kBetween = 16;
  if (++looks_ % kBetween == 0) channel_.messenger->be_idle();
}

bool ShmTransport::abandon(std::vector<OpId>& completed) {
  channel_.messenger->abandon(&completed);
  return true;
}

}  // namespace unisono
