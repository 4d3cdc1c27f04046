#include "messages.h"

#include <algorithm>
#include <cstring>

#include "watch.h"

namespace conformance {

namespace {

constexpr int kTags = 64;  // of a call; those of calls that are under way at once differ
constexpr int kHeader = 4;

}  // namespace

Messages::Messages(std::uint64_t seed, std::uint64_t number, const Communicator& comm, bool wild,
                   const Simplified& simplified)
    : seed_(seed),
      number_(number),
      colour_(static_cast<std::uint64_t>(comm.colour)),
      comm_(comm.handle),
      comm_text_(comm.text),
      common_{seed, number, 20, colour_},
      local_{seed, number, 21, colour_, [] {
               int rank = 0;
               PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
               return static_cast<std::uint64_t>(rank);
             }()} {
  PMPI_Comm_rank(comm_, &rank_);
  PMPI_Comm_size(comm_, &size_);
  blocking_ = common_.chance(30) || simplified.blocking;
  wild_ = wild && !blocking_;
  persistent_ = common_.chance(30);
  const int base = static_cast<int>(number % 500) * kTags;
  const int shift = static_cast<int>(common_.below(size_));
  const int count =
      blocking_ ? size_ : static_cast<int>(common_.between(1, std::min(2 * size_, kTags)));
  for (int k = 0; k < count; ++k) {
    Message one;
    one.from = blocking_ ? k : static_cast<int>(common_.below(size_));
    one.to = blocking_ ? (k + shift) % size_ : static_cast<int>(common_.below(size_));
    one.tag = base + k % kTags;
    // Short, and past the eager limits.
    one.length =
        kHeader + static_cast<int>(common_.chance(20) && !simplified.counts ? common_.below(100000)
                                                                            : common_.below(300));
    if (one.from == rank_ || one.to == rank_) messages_.push_back(one);
  }
}

Messages::~Messages() {
  for (MPI_Request& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

std::vector<unsigned char> Messages::content(const Message& message) const {
  Rng rng{seed_,
          number_,
          22,
          colour_,
          static_cast<std::uint64_t>(message.tag),
          static_cast<std::uint64_t>(message.from),
          static_cast<std::uint64_t>(message.to)};
  std::vector<unsigned char> data(static_cast<std::size_t>(message.length));
  for (unsigned char& byte : data) byte = static_cast<unsigned char>(rng.next());
  std::memcpy(data.data(), &message.tag, kHeader);
  return data;
}

void Messages::start() {
  tell_entry_point(EntryPoint::interposed);
  if (blocking_) return exchange();
  std::vector<Message> all;  // one to oneself is there twice
  for (const Message& one : messages_) {
    if (one.to == rank_) all.push_back(one), all.back().expected = content(one);
    if (one.from == rank_) all.push_back(one), all.back().data = content(one);
  }
  messages_ = std::move(all);
  requests_.reserve(messages_.size());
  for (const int i : local_.permutation(static_cast<int>(messages_.size()))) {
    Message& one = messages_[static_cast<std::size_t>(i)];
    if (one.expected.empty())
      send(one);
    else
      wild_ ? receive_any() : receive(one);
  }
}

void Messages::send(Message& m) {
  requests_.push_back(MPI_REQUEST_NULL);
  MPI_Request* const request = &requests_.back();
  if (persistent_) {
    MPI_Send_init(m.data.data(), m.length, MPI_BYTE, m.to, m.tag, comm_, request);
    MPI_Start(request);
  } else if (local_.chance(30)) {
    MPI_Issend(m.data.data(), m.length, MPI_BYTE, m.to, m.tag, comm_, request);
  } else {
    MPI_Isend(m.data.data(), m.length, MPI_BYTE, m.to, m.tag, comm_, request);
  }
}

void Messages::receive(Message& m) {
  requests_.push_back(MPI_REQUEST_NULL);
  MPI_Request* const request = &requests_.back();
  m.data.assign(static_cast<std::size_t>(m.length), 0);
  const int source = local_.chance(30) ? MPI_ANY_SOURCE : m.from;  // the tag tells which
  if (persistent_) {
    MPI_Recv_init(m.data.data(), m.length, MPI_BYTE, source, m.tag, comm_, request);
    MPI_Start(request);
  } else {
    MPI_Irecv(m.data.data(), m.length, MPI_BYTE, source, m.tag, comm_, request);
  }
}

/// Which message comes is told by its first bytes.
void Messages::receive_any() {
  int most = 0;
  for (const Message& one : messages_) most = std::max(most, one.length);
  any_.push_back(std::make_unique<std::vector<unsigned char>>(static_cast<std::size_t>(most), 0));
  requests_.push_back(MPI_REQUEST_NULL);
  MPI_Irecv(any_.back()->data(), most, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm_,
            &requests_.back());
}

/// Everybody sends to the one and receives from the other.
void Messages::exchange() {
  Message out, in;
  for (const Message& one : messages_) {
    if (one.from == rank_) out = one;
    if (one.to == rank_) in = one;
  }
  out.data = content(out);
  in.expected = content(in);
  in.data.assign(in.expected.size(), 0);
  MPI_Status status{};
  MPI_Message matched = MPI_MESSAGE_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  int flag = 0, length = -1;
  // Each rank in a way of its own.
  const long long way = local_.below(4);
  if (way > 0) MPI_Isend(out.data.data(), out.length, MPI_BYTE, out.to, out.tag, comm_, &request);
  switch (way) {
    case 0:
      MPI_Sendrecv(out.data.data(), out.length, MPI_BYTE, out.to, out.tag, in.data.data(),
                   in.length, MPI_BYTE, in.from, in.tag, comm_, &status);
      break;
    case 1:
      MPI_Probe(in.from, in.tag, comm_, &status);
      MPI_Recv(in.data.data(), in.length, MPI_BYTE, in.from, in.tag, comm_, &status);
      break;
    case 2:
      while (flag == 0) MPI_Improbe(MPI_ANY_SOURCE, in.tag, comm_, &flag, &matched, &status);
      MPI_Mrecv(in.data.data(), in.length, MPI_BYTE, &matched, &status);
      break;
    default:
      while (flag == 0) MPI_Iprobe(in.from, in.tag, comm_, &flag, &status);
      MPI_Recv(in.data.data(), in.length, MPI_BYTE, MPI_ANY_SOURCE, in.tag, comm_, &status);
      break;
  }
  if (way > 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Get_count(&status, MPI_BYTE, &length);
  if (length != in.length || status.MPI_SOURCE != in.from || status.MPI_TAG != in.tag)
    wrong_ = "a message's status is wrong";
  messages_ = {in};
}

std::optional<std::string> Messages::finish() {
  if (wrong_) return wrong_;
  // Else a rank that is done could send what another one's receives here would take.
  if (wild_) PMPI_Barrier(comm_);
  for (Message& one : messages_) {
    if (one.expected.empty()) continue;
    if (wild_) {
      const auto came = std::find_if(any_.begin(), any_.end(), [&](const auto& data) {
        return std::memcmp(data->data(), one.expected.data(), kHeader) == 0;
      });
      if (came == any_.end()) return "message " + std::to_string(one.tag) + " did not come";
      one.data.assign((*came)->begin(), (*came)->begin() + one.length);
    }
    if (one.data != one.expected)
      return "message " + std::to_string(one.tag) + " of " + std::to_string(one.length) +
             " bytes from rank " + std::to_string(one.from) + " differs";
  }
  return std::nullopt;
}

std::string Messages::text() const {
  return std::string(blocking_ ? "messages around"
                     : wild_   ? "messages for any receive"
                               : "messages") +
         (persistent_ && !blocking_ ? ", persistent," : "") + " on " + comm_text_ + ", rank " +
         std::to_string(rank_) + " of " + std::to_string(size_);
}

}  // namespace conformance
