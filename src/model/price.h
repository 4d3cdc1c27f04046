// What a call would take with an algorithm, at a cost that does not grow with the number of ranks.
#pragma once
#include <optional>

#include "model/predict.h"
#include "topology/topology.h"

namespace unisono {

/// Calls on more ranks are not walked through: three smaller ones are.
inline constexpr int kMostWalkedRanks = 64;
/// With neighbours, who are few, none is left out: there is no price beyond.
inline constexpr int kMostWalkedNeighbours = 256;
/// On a torus a part of its hosts is another torus: none is left out of what needs one.
inline constexpr int kMostWalkedOnTorus = 1024;
/// Nor are longer schedules: those of all ranks together take 100 MB then, and a third of a second.
inline constexpr Count kMostWalkedOps = Count{1} << 19;

/// What all ranks know of a call that is to be priced.
struct PricedCall {
  Collective collective = Collective::barrier;
  int ranks = 1;
  int nodes = 1;
  Count bytes = 0;  ///< as in Facts
  int root = 0;
  bool commutative = true;
  /// Which ranks are on which node; it must live as long. Null: in blocks.
  const Topology* topology = nullptr;
  const NeighbourGraph* graph = nullptr;  ///< of a collective among neighbours; as long
};

/// Whether a price needs no smaller calls.
bool is_walked_whole(const Algorithm& algorithm, const PricedCall& call);
/// Blocks are equal, reductions are of elements of 4 bytes.
Problem problem_of(const PricedCall& call, const Params& params = {},
                   const Topology* topology = nullptr);
/// Whether the row can, where its messages reach all ranks.
bool can_serve(const Algorithm& algorithm, const Problem& problem);

/// Seconds of the slowest rank, all starting at once; nothing where there is no prediction: what
/// runs in one node's memory (but for messages through it, where the machine has times for them,
/// and all ranks are on one node), depends on who arrives, or cannot serve the call, and grids with
/// phases of the MPI library. Up to kMostWalkedRanks it is predict(); beyond, a + b log2(n) + c n
/// through its results at three smaller numbers of nodes n: all rows of the catalogue have this
/// form, or nearly so, but for those that need a torus, which are walked through up to
/// kMostWalkedOnTorus ranks. There a few ranks of a node stand for all, with as many bytes.
/// Infinity where it, or one of the smaller ones, is more than `most`: that is known sooner; and
/// where it has more operations than kMostWalkedOps.
std::optional<double> price(const Algorithm& algorithm, const Params& params,
                            const PricedCall& call, const Machine& machine, double most = kNoLimit);

/// Seconds that it loses on top, on the average, because ports lose messages where ranks do not
/// begin together: they come out of the call before, or out of computing, one after the other. Each
/// begins within twice the time that a port takes for what it holds, or for the longest message;
/// four draws, the same wherever it is asked. 0: it keeps its ranks in step. `priced`: what price()
/// said. Of more ranks than are walked through it looks at a part.
double risk(const Algorithm& algorithm, const Params& params, const PricedCall& call,
            const Machine& machine, double priced);

}  // namespace unisono
