// Kinds of calls that are known to run through the memory of the node: for these nothing is decided
// again, which a call of a few bytes would notice.
#pragma once
#include <array>
#include <bit>
#include <vector>

#include <mpi.h>
#include "node/protocol.h"
#include "node/reduction.h"
#include "schedule/schedule.h"
#include "select/selector.h"

namespace unisono {

/// Reductions are told apart by handles that live for ever: those of predefined operations and
/// datatypes. Aligned, so that its address is a shift away.
struct alignas(64) KnownKind {
  Count bytes = -1;  ///< of the signature; -1: none
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  node::Reduction reduction;
  node::Protocol way = node::Protocol::rule;
  CallsToPass* to_pass = nullptr;

  /// Counts this call. False: how long it takes is asked for, or what runs it.
  bool passes() const { return to_pass == nullptr || to_pass->take(); }
  /// The operation and the datatype matter in reductions only.
  bool is(Collective collective, Count its_bytes, MPI_Op its_op, MPI_Datatype its_type) const {
    return bytes == its_bytes && (!is_reducing(collective) || (op == its_op && type == its_type));
  }
};

/// Where blocks of different lengths are, for each rank; bytes.
struct BlockList {
  std::vector<Count> counts, displs;
};

class NodeTeam;

/// Of a communicator that has a team.
class KnownKinds {
 public:
  explicit KnownKinds(NodeTeam& team) : team_(team) {}
  NodeTeam& team() const { return team_; }

  /// Where such a call is kept, if it is.
  KnownKind& of(Collective collective, Count bytes) {
    const auto row = static_cast<std::size_t>(collective);
    return kinds_[row][static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes))) %
                       kPerCollective];
  }
  void forget() { kinds_ = {}; }
  void forget(Collective collective) { kinds_[static_cast<std::size_t>(collective)] = {}; }
  /// The same in the middle of a call, which may be of a kind that is kept.
  void outdate() {
    for (auto& row : kinds_)
      for (KnownKind& kind : row) kind.bytes = -1;
  }

  BlockList sent, received;  ///< memory for the call that is being made

 private:
  NodeTeam& team_;
  static constexpr std::size_t kPerCollective = 4;
  std::array<std::array<KnownKind, kPerCollective>, kCollectives> kinds_;
};

}  // namespace unisono
