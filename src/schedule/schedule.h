// A schedule: what ONE rank does in one collective, as data.
//
// Ops stand in program order and form a DAG: an op may start as soon as the ops it depends on are
// complete. Messages between two ranks match by position: the k-th send from a to b is received by
// the k-th receive on b from a. Slices are counted in units; the runtime says what a unit is (one
// byte of the signature when data only moves, one element of the datatype when it is reduced), so
// that a schedule knows neither pointers nor MPI handles.
//
// Who talks to whom may depend on who arrives when (docs/adr/0010). Then a peer is bound while the
// schedule runs: a slot holds it, an integer that a rank writes, or is sent, before. One rank, the
// server, decides for all, in a serve; the others follow what it writes to them. resolve() makes a
// static schedule of it, for one course of arrivals; who does not run schedules reads only those.
//
// What all of several ranks want is sent once, to a group of ranks, where the network can do that
// (docs/adr/0039). Every member's schedule has every message to the group, in one order. expand()
// makes messages to single ranks of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/collective.h"

namespace unisono {

using Count = std::int64_t;  ///< a number of units

/// 0 is the user's input, 1 the user's output, 2 the slots, 3 + k the k-th scratch buffer.
using BufferId = std::uint8_t;
inline constexpr BufferId kInput = 0;
inline constexpr BufferId kOutput = 1;
inline constexpr BufferId kSlots = 2;  ///< counted in slots (std::int32_t), not in units
inline constexpr BufferId kFirstScratch = 3;
inline constexpr std::size_t kMostScratch = 253;

/// `length` units of a buffer from `offset` on.
struct Slice {
  BufferId buffer = kInput;
  Count offset = 0;
  Count length = 0;

  /// The part [from, from + units) of this slice.
  constexpr Slice part(Count from, Count units) const { return {buffer, offset + from, units}; }
  bool operator==(const Slice&) const = default;
};

constexpr bool overlap(Slice a, Slice b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.length && b.offset < a.offset + a.length;
}

/// A message to or from nobody is complete at once.
inline constexpr std::int32_t kNobody = -1;
/// As a peer: whoever is in slot `i` of `slots` when the message starts.
constexpr std::int32_t bound(Slice slots, Count i = 0) {
  return static_cast<std::int32_t>(-2 - slots.offset - i);
}

enum class OpKind : std::uint8_t {
  send,       ///< slice() to peer()
  recv,       ///< slice() from peer()
  copy,       ///< from() into slice()
  reduce,     ///< slice() = from() (+) slice(): from() is the LEFT operand, as in MPI_Reduce_local
  join,       ///< nothing; the end of a round
  library,    ///< a collective of the MPI library; joins stand before and behind it
  enqueue,    ///< peer() waits to be served; complete when a serve has taken it
  serve,      ///< takes all who wait, or the first who comes, or nobody when all have been taken
  multicast,  ///< slice() to all other members of group()
  recv_multicast,  ///< slice() from peer(), a member of group()
};

using OpId = std::uint32_t;
inline constexpr OpId kNoOp = ~OpId{0};

/// 32 bytes. A message and a local op share the last field; use the named accessors.
struct Op {
  OpKind kind = OpKind::join;
  BufferId buffer = kInput;       ///< the slice sent, received into, or written
  BufferId from_buffer = kInput;  ///< copy and reduce: the slice read; number of a group
  /// Sends: what is asked of a network whose routes can be chosen (Way in patterns/torus.h); 0:
  /// nothing. Other networks do not heed it.
  std::uint8_t way = 0;
  std::int32_t peer = -1;  ///< send, recv, recv_multicast and enqueue
  Count offset = 0;
  Count length = 0;
  Count from_offset = 0;  ///< copy and reduce; position of a message; number of a library call

  bool is_message() const { return kind == OpKind::send || kind == OpKind::recv; }
  bool is_multicast() const { return kind == OpKind::multicast || kind == OpKind::recv_multicast; }
  /// Multicasts: which of the schedule's groups.
  std::size_t group() const { return from_buffer; }
  Slice slice() const { return {buffer, offset, length}; }
  Slice from() const { return {from_buffer, from_offset, length}; }
  bool is_bound() const { return is_message() && peer < kNobody; }
  /// The slot that holds the peer of a bound message.
  Count slot() const { return -2 - Count{peer}; }
  /// Messages: how many messages this rank has exchanged with peer in this direction before. Bound
  /// ones count from 1 in every chain: 0 is what the server has written to this peer. Multicasts:
  /// how many messages the group has had before, whoever sent them.
  Count position() const { return from_offset; }
  /// Serve: microseconds after the first has come, in which others may still join the set.
  Count pause() const { return from_offset; }
  /// Library: which of the schedule's calls.
  std::size_t call() const { return static_cast<std::size_t>(from_offset); }
};
static_assert(sizeof(Op) == 32);

/// Some of the ranks, in any order: member i is rank(i).
struct RankGroup {
  std::vector<int> ranks;

  /// All of `size` ranks, in their order.
  static RankGroup of_all(int size);

  int size() const { return static_cast<int>(ranks.size()); }
  int rank(int i) const { return ranks[static_cast<std::size_t>(i)]; }
  bool operator==(const RankGroup&) const = default;
};

/// A collective among some of the ranks that is one step of a schedule, as this member of the group
/// calls it: of the MPI library itself, or of the kernels of the node that they are on. Blocks are
/// adjacent; a slice that the call does not have on this rank is empty.
struct GroupCall {
  Collective collective = Collective::barrier;
  bool in_node = false;
  RankGroup group;
  int root = 0;           ///< in the group
  bool in_place = false;  ///< MPI_IN_PLACE on this rank: the input lies in the output
  Slice input, output;
  Count count = 0;  ///< of the vector, or of every block when `counts` is empty
  /// Of each member's block; alltoallv: [i * size + j] from member i to member j.
  std::vector<Count> counts;

  // alltoallv: to each member, and from each.
  std::vector<Count> sent_by(int member) const;
  std::vector<Count> received_by(int member) const;
};

/// At most so many messages of one schedule are under way on one channel (ordered pair of ranks);
/// the builder orders message k after message k - kChannelDepth. Bounds the tags that are needed.
inline constexpr Count kChannelDepth = 1024;
/// To which a schedule may multicast.
inline constexpr std::size_t kMostGroups = 255;

class Schedule {
 public:
  std::span<const Op> ops() const { return ops_; }
  /// The ops that must be complete before op `id` starts; all are smaller than `id`.
  std::span<const OpId> dependencies(OpId id) const {
    return {deps_.data() + first_dep_[id], first_dep_[id + 1] - first_dep_[id]};
  }
  /// Length of each scratch buffer, in units.
  std::span<const Count> scratch() const { return scratch_; }
  std::span<const GroupCall> group_calls() const { return calls_; }
  /// To whom multicasts go. The same on all ranks that an algorithm has asked for them, be they
  /// members or not.
  std::span<const RankGroup> groups() const { return groups_; }
  std::size_t slots() const { return slots_; }
  /// Whether resolve() has something to do.
  bool binds_peers() const { return slots_ > 0; }
  /// What the op `serve` of rank `server` does when it takes these enqueued ranks, in this order:
  /// they become a chain. Its slot gets the first, those of an enqueue who is before and behind.
  void bind(OpId serve, std::span<const OpId> taken, int server,
            std::span<std::int32_t> slots) const;
  /// Memory held, in bytes.
  std::size_t bytes() const;

  /// For the builder, the reader and tests that mutate: takes the parts as they are.
  Schedule(std::vector<Op> ops, std::vector<std::uint32_t> first_dep, std::vector<OpId> deps,
           std::vector<Count> scratch, std::vector<GroupCall> calls = {}, std::size_t slots = 0,
           std::vector<RankGroup> groups = {});
  Schedule() : first_dep_{0} {}

 private:
  std::vector<Op> ops_;
  std::vector<std::uint32_t> first_dep_;  // ops + 1 entries into deps_
  std::vector<OpId> deps_;
  std::vector<Count> scratch_;
  std::vector<GroupCall> calls_;
  std::size_t slots_ = 0;
  std::vector<RankGroup> groups_;
};

}  // namespace unisono
