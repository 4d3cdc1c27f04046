#include "exec/mpi_transport.h"

#include <algorithm>

#include "mpi/turns.h"

namespace unisono {

MpiTransport::~MpiTransport() {
  std::vector<OpId> nobody;
  abandon(nobody);
}

// Beforehand, for nothing may fail once a message is under way.
void MpiTransport::make_room() {
  if (requests_.size() < std::min(requests_.capacity(), ops_.capacity())) return;
  const std::size_t room = std::max<std::size_t>(16, 2 * requests_.size());
  requests_.reserve(room);
  ops_.reserve(room);
}

int MpiTransport::start_portion(const Message& message, Count at, Count units, int cut,
                                bool is_matched) {
  make_room();
  const MPI_Datatype type = message.slots ? MPI_INT32_T : channel_.type;
  const Count extent = message.slots ? Count{sizeof(std::int32_t)} : channel_.extent;
  std::byte* where = message.where == nullptr ? nullptr : message.where + at * extent;
  const int tag = channel_.first_tag + static_cast<int>(message.position % kChannelDepth);
  MPI_Request request = MPI_REQUEST_NULL;
  const int count = static_cast<int>(units);
  const auto send = is_matched ? kStartMatchedSend : kStartSend;
  const int rc = message.kind == OpKind::send
                     ? send(where, count, type, message.peer, tag, channel_.comm, &request)
                     : PMPI_Irecv(where, count, type, message.peer, tag, channel_.comm, &request);
  if (rc != MPI_SUCCESS) return rc;
  requests_.push_back(request);
  ops_.push_back({message.op, message.kind, cut, kNobodyAsked});
  return MPI_SUCCESS;
}

int MpiTransport::start_next(int cut) {
  Cut& of = cuts_[static_cast<std::size_t>(cut)];
  const Count at = of.at, units = std::min(of.most, of.message.units - at);
  of.at += units;
  const bool is_matched = of.at == of.message.units || of.at / of.most % kPortionsUnderWay == 0;
  return start_portion(of.message, at, units, cut, is_matched);
}

Ahead::Kind MpiTransport::kind_of(const Message& message) {
  if (message.kind != OpKind::send || channel_.ahead == nullptr ||
      channel_.portions.is_near(message.peer))
    return Ahead::Kind::plain;
  return channel_.ahead->next(message.peer, message.units * std::abs(channel_.extent));
}

// Both sides cut alike, and portions of one message share its tag, so that MPI keeps their order.
int MpiTransport::start(const Message& message, std::vector<OpId>&, Started& started) {
  const Count most = message.slots ? kMaxPortion : channel_.portions.most(message.peer);
  if (message.units <= most) {  // a token has no units, but is a message
    started.portions = 1;
    const Ahead::Kind kind = kind_of(message);
    const bool asks = kind != Ahead::Kind::plain;
    if (const int rc = start_portion(message, 0, message.units, kWhole, asks); rc != MPI_SUCCESS)
      return rc;
    if (asks) ops_.back().asked = message.peer;
    started.may_be_followed = kind == Ahead::Kind::question;
    return MPI_SUCCESS;
  }
  started.portions = static_cast<std::uint32_t>((message.units + most - 1) / most);
  if (requests_.empty()) cuts_.clear();
  const int cut = static_cast<int>(cuts_.size());
  cuts_.push_back({message, most});
  for (Count n = 0; n < kPortionsUnderWay && n * most < message.units; ++n)
    if (const int rc = start_next(cut); rc != MPI_SUCCESS) return rc;
  return MPI_SUCCESS;
}

int MpiTransport::progress(std::vector<OpId>& completed, bool only_looks, bool& moved) {
  if (requests_.empty()) return MPI_SUCCESS;
  int count = 0;
  completed_.resize(requests_.size());
  statuses_.resize(requests_.size());
  next_.reserve(requests_.size());
  completed.reserve(completed.size() + requests_.size());
  const auto look = is_in_turn() ? look_in_turn : only_looks ? PMPI_Testsome : complete_some;
  const int rc = look(static_cast<int>(requests_.size()), requests_.data(), &count,
                      completed_.data(), statuses_.data());
  if (rc == MPI_ERR_IN_STATUS)
    for (int i = 0; i < count; ++i)
      if (const int error = statuses_[static_cast<std::size_t>(i)].MPI_ERROR;
          error != MPI_SUCCESS && error != MPI_ERR_PENDING)
        return error;
  if (rc != MPI_SUCCESS || count <= 0) return rc;
  moved = true;
  std::sort(completed_.begin(), completed_.begin() + count);
  next_.clear();
  for (int i = 0; i < count; ++i) {
    const Of& of = ops_[static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)])];
    completed.push_back(of.op);
    if (of.cut != kWhole) next_.push_back(of.cut);
    if (of.asked != kNobodyAsked) channel_.ahead->answered(of.asked);
  }
  // Close the gaps: MPI has set the completed requests to null.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    requests_[kept] = requests_[i];
    ops_[kept++] = ops_[i];
  }
  requests_.resize(kept);
  ops_.resize(kept);
  for (const int cut : next_) {
    const Cut& of = cuts_[static_cast<std::size_t>(cut)];
    if (of.at == of.message.units) continue;
    if (const int again = start_next(cut); again != MPI_SUCCESS) return again;
  }
  return MPI_SUCCESS;
}

void MpiTransport::look_around() {
  if (!requests_.empty() || channel_.comm == MPI_COMM_NULL || is_in_turn()) return;
  int found = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, channel_.comm, &found, MPI_STATUS_IGNORE);
}

// A receive that is cancelled, or completes all the same, is over when MPI_Wait returns, whatever
// the other ranks do (MPI-4.1, 3.8.4). A send may not be cancelled any more; it reads on.
bool MpiTransport::abandon(std::vector<OpId>&) {
  bool is_read = false;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    if (ops_[i].kind == OpKind::recv) {
      PMPI_Cancel(&requests_[i]);
      PMPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
    } else {
      PMPI_Request_free(&requests_[i]);
      is_read = true;
    }
  }
  requests_.clear();
  ops_.clear();
  cuts_.clear();
  return is_read;
}

}  // namespace unisono
