// What each collective of MPI means: one row of a table that everything else reads. Entry points,
// binding, fast path, tracer, checker, bench, documentation and (through `unisono-schedule list
// --json`) Python ask it, so that a collective is added here, with its algorithms and its tests.
// docs/adr/0018-semantics-table.md. No MPI handles here.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace unisono {

enum class Collective : std::uint8_t {
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce,
  allreduce,
  reduce_scatter_block,
  reduce_scatter,
  scan,
  exscan,
  neighbor_allgather,
  neighbor_allgatherv,
  neighbor_alltoall,
  neighbor_alltoallv,
  neighbor_alltoallw,
};

/// On which ranks something is: a buffer is significant, a number is known.
enum class Who : std::uint8_t { nobody, root, all };

/// How a buffer is described. A block for each peer comes with a displacement where each has its
/// own count; MPI_Reduce_scatter's blocks are adjacent and have none.
enum class SideShape : std::uint8_t {
  nothing,
  block,   ///< one block, one count
  blocks,  ///< a block for each peer, one count for all
  counts,  ///< a block and a count for each peer
  types,   ///< a block, a count and a datatype for each peer; displacements in bytes
};

struct CallSide {
  Who who = Who::nobody;
  SideShape shape = SideShape::nothing;
};

/// Whose contributions a result combines; `nobody`: data only moves.
enum class Combines : std::uint8_t { nobody, all_ranks, ranks_up_to, ranks_before };

/// Where MPI_IN_PLACE may stand.
enum class InPlace : std::uint8_t {
  nowhere,
  root_send,     ///< the root's send buffer
  root_receive,  ///< the root's receive buffer
  all,           ///< the send buffer, on all ranks or on none
  each,          ///< the send buffer, on any of the ranks: they may differ
};

/// What the bytes of a call measure, for selection and in everything that is said of it.
enum class Measure : std::uint8_t {
  nothing,
  vector,  ///< all that a rank gives or gets, which is one piece
  block,   ///< one of the blocks that make up the data; of different lengths: their mean
  blocks,  ///< all blocks together: the vector that a reduction cuts
};

/// With whom a rank exchanges data.
enum class Peers : std::uint8_t {
  all,         ///< the ranks of the communicator
  neighbours,  ///< those of its topology: the blocks are theirs
};

struct Semantics {
  Collective collective;
  std::string_view name;  ///< as users write it; in MPI's functions its first letter is a capital
  bool rooted;
  /// A rank with both sides and no shape on its send side has one buffer for both: MPI_Bcast.
  CallSide send, receive;
  Combines combines;
  InPlace in_place;
  Measure measure;
  Who knows_bytes;     ///< which ranks can tell the measure from their own arguments
  Collective regular;  ///< the same with blocks of one length
  Peers peers = Peers::all;

  constexpr bool is_reducing() const { return combines != Combines::nobody; }
};

inline constexpr auto kSemantics = [] {
  using enum Collective;
  constexpr CallSide kNone;
  constexpr CallSide kBlock{Who::all, SideShape::block}, kRootBlock{Who::root, SideShape::block};
  constexpr CallSide kBlocks{Who::all, SideShape::blocks},
      kRootBlocks{Who::root, SideShape::blocks};
  constexpr CallSide kCounts{Who::all, SideShape::counts},
      kRootCounts{Who::root, SideShape::counts};
  constexpr CallSide kTypes{Who::all, SideShape::types};
  constexpr auto kMoves = Combines::nobody;
  constexpr auto kReduces = Combines::all_ranks;
  constexpr auto kNeighbours = Peers::neighbours;
  // clang-format off
  return std::to_array<Semantics>({
    {barrier, "barrier", false, kNone, kNone, kMoves, InPlace::nowhere, Measure::nothing, Who::all, barrier},
    {bcast, "bcast", true, {Who::root, SideShape::nothing}, kBlock, kMoves, InPlace::nowhere, Measure::vector, Who::all, bcast},
    {gather, "gather", true, kBlock, kRootBlocks, kMoves, InPlace::root_send, Measure::block, Who::all, gather},
    {gatherv, "gatherv", true, kBlock, kRootCounts, kMoves, InPlace::root_send, Measure::block, Who::root, gather},
    {scatter, "scatter", true, kRootBlocks, kBlock, kMoves, InPlace::root_receive, Measure::block, Who::all, scatter},
    {scatterv, "scatterv", true, kRootCounts, kBlock, kMoves, InPlace::root_receive, Measure::block, Who::root, scatter},
    {allgather, "allgather", false, kBlock, kBlocks, kMoves, InPlace::all, Measure::block, Who::all, allgather},
    {allgatherv, "allgatherv", false, kBlock, kCounts, kMoves, InPlace::all, Measure::block, Who::all, allgather},
    {alltoall, "alltoall", false, kBlocks, kBlocks, kMoves, InPlace::all, Measure::block, Who::all, alltoall},
    {alltoallv, "alltoallv", false, kCounts, kCounts, kMoves, InPlace::all, Measure::block, Who::nobody, alltoall},
    {alltoallw, "alltoallw", false, kTypes, kTypes, kMoves, InPlace::all, Measure::block, Who::nobody, alltoall},
    {reduce, "reduce", true, kBlock, kRootBlock, kReduces, InPlace::root_send, Measure::vector, Who::all, reduce},
    {allreduce, "allreduce", false, kBlock, kBlock, kReduces, InPlace::all, Measure::vector, Who::all, allreduce},
    {reduce_scatter_block, "reduce_scatter_block", false, kBlocks, kBlock, kReduces, InPlace::all, Measure::blocks, Who::all, reduce_scatter_block},
    {reduce_scatter, "reduce_scatter", false, kCounts, kBlock, kReduces, InPlace::each, Measure::blocks, Who::all, reduce_scatter_block},
    {scan, "scan", false, kBlock, kBlock, Combines::ranks_up_to, InPlace::each, Measure::vector, Who::all, scan},
    {exscan, "exscan", false, kBlock, kBlock, Combines::ranks_before, InPlace::each, Measure::vector, Who::all, exscan},
    {neighbor_allgather, "neighbor_allgather", false, kBlock, kBlocks, kMoves, InPlace::nowhere, Measure::block, Who::all, neighbor_allgather, kNeighbours},
    {neighbor_allgatherv, "neighbor_allgatherv", false, kBlock, kCounts, kMoves, InPlace::nowhere, Measure::block, Who::nobody, neighbor_allgather, kNeighbours},
    {neighbor_alltoall, "neighbor_alltoall", false, kBlocks, kBlocks, kMoves, InPlace::nowhere, Measure::block, Who::all, neighbor_alltoall, kNeighbours},
    {neighbor_alltoallv, "neighbor_alltoallv", false, kCounts, kCounts, kMoves, InPlace::nowhere, Measure::block, Who::nobody, neighbor_alltoall, kNeighbours},
    {neighbor_alltoallw, "neighbor_alltoallw", false, kTypes, kTypes, kMoves, InPlace::nowhere, Measure::block, Who::nobody, neighbor_alltoall, kNeighbours},
  });
  // clang-format on
}();

inline constexpr int kCollectives = static_cast<int>(kSemantics.size());

static_assert(
    [] {
      for (std::size_t i = 0; i < kSemantics.size(); ++i)
        if (static_cast<std::size_t>(kSemantics[i].collective) != i) return false;
      return true;
    }(),
    "the rows stand in the order of the enumerators");

constexpr const Semantics& semantics(Collective c) {
  return kSemantics[static_cast<std::size_t>(c)];
}

// What follows from a row.

constexpr bool is_per_peer(SideShape shape) { return shape >= SideShape::blocks; }
constexpr bool is_irregular(SideShape shape) { return shape >= SideShape::counts; }

/// The send side is the receive buffer of the root.
constexpr bool has_one_buffer(const Semantics& s) {
  return s.send.who == Who::root && s.send.shape == SideShape::nothing;
}
/// No rank's result is complete before every rank has entered the call.
constexpr bool synchronises(const Semantics& s) {
  const bool waits_for_all = s.combines == Combines::all_ranks || s.measure == Measure::nothing ||
                             is_per_peer(s.receive.shape);
  return s.peers == Peers::all && !s.rooted && waits_for_all;
}
/// What every rank sends to every other one is a matrix, which no rank knows.
constexpr bool has_matrix(const Semantics& s) {
  return is_irregular(s.send.shape) && is_irregular(s.receive.shape);
}

}  // namespace unisono
