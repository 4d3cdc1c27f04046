// Messages through the MPI library.
#pragma once
#include <mpi.h>

#include <span>
#include <vector>

#include "exec/messages.h"
#include "exec/transport.h"

namespace unisono {

/// How long a message may be before it is cut. Equal on all ranks of the communicator.
struct Portions {
  Count units = kMaxPortion;   ///< to ranks on other nodes
  std::span<const int> nodes;  ///< of each rank; empty: every rank is on its own
  int node = 0;                ///< this rank's

  Count most(int peer) const {
    const bool near = !nodes.empty() && nodes[static_cast<std::size_t>(peer)] == node;
    return near ? kMaxPortion : units;
  }
};

/// What a message of a call is to MPI: kChannelDepth tags from `first_tag` on are free on `comm`.
struct MpiChannel {
  MPI_Comm comm = MPI_COMM_NULL;
  int first_tag = 0;
  MPI_Datatype type = MPI_BYTE;  ///< of one unit
  Count extent = 1;
  Portions portions;
};

class MpiTransport final : public Transport {
 public:
  MpiTransport() = default;
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  /// For the messages of the next execution. Precondition: none is under way.
  void open(const MpiChannel& channel) { channel_ = channel; }

  int start(const Message& message, std::vector<OpId>& completed, std::uint32_t& portions) override;
  int progress(std::vector<OpId>& completed, bool only_looks, bool& moved) override;
  bool abandon(std::vector<OpId>& completed) override;

 private:
  struct Of {
    OpId op;
    OpKind kind;
  };

  void make_room();
  int start_portion(const Message& message, std::byte* where, int count, MPI_Datatype type);

  MpiChannel channel_;
  std::vector<MPI_Request> requests_;
  std::vector<Of> ops_;
  std::vector<int> completed_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace unisono
