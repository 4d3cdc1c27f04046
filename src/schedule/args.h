// What an algorithm is told about a call. Everything a rank needs, nothing it must ask for.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedule/collective.h"
#include "schedule/count_matrix.h"
#include "schedule/neighbourhood.h"
#include "schedule/schedule.h"

namespace unisono {

/// How p blocks lie in a buffer, in units: equal and adjacent, or given by counts and
/// displacements.
struct Layout {
  Count count = 0;                ///< length of every block when `counts` is empty
  std::span<const Count> counts;  ///< length of block i (irregular collectives)
  std::span<const Count> displs;  ///< offset of block i; empty: the blocks are adjacent

  Count length(int i) const { return counts.empty() ? count : counts[static_cast<std::size_t>(i)]; }
  /// O(1) for equal blocks and given displacements, else the sum of the counts before i.
  Count offset(int i) const;
  /// Sum of the lengths of blocks [first, last).
  Count total(int first, int last) const;
};

struct Composition;   // algorithms/composition.h
struct MessageOrder;  // patterns/message_order.h
class Topology;       // topology/topology.h

/// What carries the messages of a schedule.
enum class TransportKind : std::uint8_t {
  mpi,  ///< the MPI library
  shm,  ///< the memory of the node that all ranks are on
};

/// A segment that is open: the one that the model finds best, or the row's standard one. Whoever
/// plans a call has put a number in its place.
inline constexpr Count kOpenSegment = -1;

/// Parameters an algorithm may take. A catalogue row names those it reads, with their limits.
struct Params {
  Count segment = 0;    ///< bytes of one pipeline segment; 0: nothing is cut; or kOpenSegment
  Count radix = 0;      ///< k of k-nomial trees, radix of Bruck
  Count window = 0;     ///< messages in flight
  Count threshold = 0;  ///< bytes: shorter messages may make up a phase of their own
  Count trees = 0;      ///< a TreeKind (patterns/torus_trees.h): over the hosts of a torus
  Count pause = 0;      ///< microseconds that a rank waits for others before it looks who has come
  /// What a grid is made of; interned, so that equal ones have one address. Null: the standard.
  const Composition* composition = nullptr;
  /// Ranks predicted to arrive last, the very last one last; interned. Null: nothing is predicted.
  const std::vector<int>* late = nullptr;
  /// Where an order of messages is stored: the name of a file, interned. Null: nowhere.
  const std::string* file = nullptr;
  /// Whoever runs the schedule looks at this; it is the same schedule.
  TransportKind transport = TransportKind::mpi;
  bool operator==(const Params&) const = default;
};

/// The call as one rank sees it. Lengths in units.
///
///   collective               input                    output
///   bcast                    -                        count (read on the root)
///   gather, gatherv          send.length(rank)        root: blocks of recv
///   scatter, scatterv        root: blocks of send     recv.length(rank)
///   allgather, allgatherv    recv.length(rank)        blocks of recv
///   alltoall, v, w           blocks of send           blocks of recv
///   reduce                   count                    root: count
///   allreduce, scan, exscan  count                    count
///   reduce_scatter, _block   blocks of recv           recv.length(rank)
///   neighbor_allgather, v    send.count               blocks of recv, one for each source
///   neighbor_alltoall, v, w  blocks of send, one for  blocks of recv
///                            each destination
///
/// gatherv and scatterv: the counts of all ranks are known on the root only, unless
/// `all_counts_known`; then every rank has them in recv.counts (gatherv) or send.counts (scatterv)
/// and displs are given on the root only. alltoallv: `matrix` is null unless the algorithm's row
/// asks for it. Among neighbours, where counts are a rank's own, `edge_counts` is what rank 0
/// sends, block by block, then what rank 1 does, ...
struct Args {
  Collective collective = Collective::barrier;
  int rank = 0;
  int size = 1;
  int root = 0;
  Count count = 0;       ///< bcast, reduce, allreduce, scan, exscan: the whole vector
  Count unit_bytes = 1;  ///< bytes of the signature in one unit, equal on all ranks
  Layout send;
  Layout recv;
  const CountMatrix* matrix = nullptr;
  /// Of the messages, where the row asks for one: made from this call's matrix, or from another's.
  /// This rank's part of one that is equal on all ranks; null: the algorithm makes its own.
  const MessageOrder* order = nullptr;
  std::span<const Count> edge_counts;
  bool all_counts_known = true;
  bool commutative = true;
  bool in_place = false;  ///< MPI_IN_PLACE was given on THIS rank
  Params params;
  /// Which ranks are near to each other; null: nothing is known. Equal on all ranks.
  const Topology* topology = nullptr;
  const Neighbourhood* neighbours = nullptr;  ///< this rank's, of a collective among neighbours
  const NeighbourGraph* graph = nullptr;  ///< of all ranks, where the algorithm's row asks for it

  bool is_root() const { return rank == root; }

  // The user's buffers, MPI_IN_PLACE taken into account.
  /// What this rank contributes, whole (scatter and alltoall: use input_block).
  Slice input() const;
  int input_blocks() const;
  int output_blocks() const;
  /// Block i of the input: scatter (root), alltoall, reduce_scatter.
  Slice input_block(int i) const;
  /// Where this rank's whole result goes (gather, alltoall, neighbours: use output_block).
  Slice output() const;
  /// Block i of the output: gather (root), allgather, alltoall.
  Slice output_block(int i) const;

  /// params.segment in units: at least one, and so large that `length` has at most 4096 segments.
  Count segment_of(Count length) const;
};

}  // namespace unisono
