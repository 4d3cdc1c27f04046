// A call seen from outside, and what each of its ranks is told: for the checker's tests, `unisono
// show`, the generated documentation and the models, which look at all ranks together.
#pragma once
#include <optional>
#include <vector>

#include "schedule/args.h"

namespace unisono {

struct Problem {
  Collective collective = Collective::barrier;
  int size = 1;
  int root = 0;
  /// The vector (bcast, reduce, allreduce, scan, exscan) or one block, in units. Irregular
  /// collectives without `counts` get blocks of count, 0, count + 1, ... units (see block_length).
  Count count = 0;
  /// Irregular: p entries; alltoallv/w: p * p by rows (source ranks); among neighbours as in Args.
  std::vector<Count> counts;
  bool in_place = false;  ///< on all ranks where MPI allows it
  unsigned differ = 0;    ///< not 0: on some of them, drawn from it, where MPI lets them differ
  bool gaps = false;      ///< irregular: displacements that are not adjacent nor in rank order
  bool commutative = true;
  bool share_counts =
      true;  ///< gatherv/scatterv: all ranks know all counts; alltoallv/w: the matrix
  Count unit_bytes = 1;
  Params params;
  const Topology* topology = nullptr;
  const NeighbourGraph* graph = nullptr;  ///< among neighbours; null: a stencil of two dimensions
};

/// The arguments of every rank, and the arrays behind them.
class ArgsOfRanks {
 public:
  explicit ArgsOfRanks(const Problem& problem);
  ArgsOfRanks(const ArgsOfRanks&) = delete;
  ArgsOfRanks& operator=(const ArgsOfRanks&) = delete;

  const std::vector<Args>& args() const { return args_; }
  const Args& operator[](int rank) const { return args_[static_cast<std::size_t>(rank)]; }

 private:
  std::optional<const NeighbourGraph> stencil_;
  const NeighbourGraph* graph_;
  std::vector<Count> counts_;  // p, or p * p by rows
  CountMatrix matrix_;
  std::vector<std::vector<Count>> columns_;  // where there is a matrix: what rank j receives
  std::vector<std::size_t> first_;           // in it, of each rank and the end: among neighbours
  std::vector<std::vector<Count>> displs_;   // kept alive for the spans
  std::vector<Args> args_;

  void make_up_counts(const Problem& problem);
  void make_columns(const Problem& problem);
  void lay_out(const Problem& problem, Args& a);
  std::span<const Count> displacements(std::span<const Count> counts, bool gaps);
};

}  // namespace unisono
