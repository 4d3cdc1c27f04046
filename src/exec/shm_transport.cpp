#include "exec/shm_transport.h"

#include "mpi/threads.h"

namespace unisono {

// Not where several threads may call: that may change while this one is inside. But requests of a
// communicator come where its calls do, and go when nobody moves them any more.
std::unique_lock<std::mutex> ShmTransport::guard() const {
  return has_movers() ? std::unique_lock(*channel_.mutex) : std::unique_lock<std::mutex>();
}

void ShmTransport::take_arrived(std::vector<OpId>& completed) {
  completed.insert(completed.end(), arrived_.begin(), arrived_.end());
  arrived_.clear();
}

int ShmTransport::start(const Message& message, std::vector<OpId>& completed, Started& started) {
  const Count unit = message.slots ? Count{sizeof(std::int32_t)} : channel_.unit_bytes;
  const auto bytes = static_cast<std::size_t>(message.units * unit);
  std::byte* where = bytes == 0 ? nullptr : message.where + (message.slots ? 0 : channel_.true_lb);
  const int tag = channel_.first_tag + static_cast<int>(message.position % kChannelDepth);
  started.portions = 1;
  const auto lock = guard();
  const node::Completion completion{&arrived_, message.op};
  if (message.kind == OpKind::send) {
    channel_.messenger->send(message.peer, tag, where, bytes, completion);
  } else {
    const node::Accumulator sum{message.reduction, message.left, message.sum};
    started.reduces = sum.reduction != nullptr && channel_.messenger->can_reduce(*sum.reduction);
    channel_.messenger->recv(message.peer, tag, where, bytes, completion,
                             started.reduces ? sum : node::Accumulator{});
  }
  take_arrived(completed);
  return channel_.messenger->take_truncated() ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

int ShmTransport::progress(std::vector<OpId>& completed, bool, bool& moved) {
  const auto lock = guard();
  moved = channel_.messenger->progress() || moved;
  take_arrived(completed);
  return channel_.messenger->take_truncated() ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

// Who waits there goes through all channels again and again, which another thread may do only where
// it has no requests to move. The last of those may have brought what this one would wait for.
bool ShmTransport::wait() {
  if (several_threads() && has_movers()) return false;
  if (const auto lock = guard(); !arrived_.empty()) return true;
  channel_.messenger->wait();
  return true;
}

// As often as a wait does.
void ShmTransport::look_around() {
  constexpr unsigned kBetween = 16;
  if (++looks_ % kBetween == 0) channel_.messenger->be_idle();
}

bool ShmTransport::abandon(std::vector<OpId>&) {
  const auto lock = guard();
  channel_.messenger->abandon(&arrived_);
  arrived_.clear();
  return true;
}

}  // namespace unisono
