// Messages through the MPI library.
#pragma once
#include <mpi.h>

#include <span>
#include <vector>

#include "exec/ahead.h"
#include "exec/messages.h"
#include "exec/transport.h"

namespace unisono {

/// How long a message may be before it is cut. Equal on all ranks of the communicator.
struct Portions {
  Count units = kMaxPortion;   ///< to ranks on other nodes
  std::span<const int> nodes;  ///< of each rank; empty: every rank is on its own
  int node = 0;                ///< this rank's

  bool is_near(int peer) const {
    return !nodes.empty() && nodes[static_cast<std::size_t>(peer)] == node;
  }
  Count most(int peer) const { return is_near(peer) ? kMaxPortion : units; }
};

/// What a message of a call is to MPI: kChannelDepth tags from `first_tag` on are free on `comm`.
struct MpiChannel {
  MPI_Comm comm = MPI_COMM_NULL;
  int first_tag = 0;
  MPI_Datatype type = MPI_BYTE;  ///< of one unit
  Count extent = 1;
  Portions portions;
  Ahead* ahead = nullptr;  ///< null: nobody counts
};

class MpiTransport final : public Transport {
 public:
  MpiTransport() = default;
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  /// For the messages of the next execution. Precondition: none is under way.
  void open(const MpiChannel& channel) { channel_ = channel; }

  int start(const Message& message, std::vector<OpId>& completed, Started& started) override;
  int progress(std::vector<OpId>& completed, bool only_looks, bool& moved) override;
  /// A turn for the library, where it has nothing of this execution to look at.
  void look_around() override;
  bool abandon(std::vector<OpId>& completed) override;

 private:
  /// A message that goes in portions.
  struct Cut {
    Message message;
    Count most = 0, at = 0;  // units of a portion, and those of all that were started
  };
  struct Of {
    OpId op;
    OpKind kind;
    int cut;    // in cuts_, or kWhole
    int asked;  // the rank that is asked whether it has begun to take it, or kNobodyAsked
  };
  static constexpr int kWhole = -1, kNobodyAsked = -1;

  void make_room();
  int start_portion(const Message& message, Count at, Count units, int cut, bool is_matched);
  Ahead::Kind kind_of(const Message& message);
  int start_next(int cut);

  MpiChannel channel_;
  std::vector<MPI_Request> requests_;
  std::vector<Of> ops_;
  std::vector<Cut> cuts_;  // of the messages under way, and of some before
  std::vector<int> next_;
  std::vector<int> completed_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace unisono
