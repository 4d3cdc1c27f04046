// What one rank does with a vector, or a part of it, along the steps of a butterfly. The steps of
// several runs are written in turn, so that they are under way at once.
#pragma once
#include <vector>

#include "patterns/butterfly.h"
#include "schedule/builder.h"

namespace unisono {

/// Of parts: a reduce-scatter, an allgather, or one behind the other.
class PartRun {
 public:
  /// `begin[v]`: units before position v; positions + 1 entries. `position`: this rank's.
  PartRun(Builder& b, const Butterfly& butterfly, int rank, std::vector<Count> begin);

  int steps() const { return static_cast<int>(exchanges_.size()); }

  /// A reduce-scatter begins: `own` is read only.
  void start(Slice own);
  void reduce(int step);
  /// The sum of the part at the own position, when all steps have been made.
  Slice sum() const { return held_; }

  /// An allgather begins, or goes on behind a reduce-scatter: the own part is in `all`.
  void start_gather(Slice all);
  /// From the last step down.
  void gather(int step);
  /// The part at the own position in `all`.
  Slice own_part(Slice all) const;

 private:
  Slice parts(Slice whole, int first, int last) const {
    return whole.part(before(first), before(last) - before(first));
  }
  Count before(int position) const { return begin_[static_cast<std::size_t>(position)]; }
  void reduce_directly(const Exchange& exchange);
  void reduce_round(const Exchange& exchange);
  Slice incoming(std::size_t i, Count length);

  Builder& b_;
  bool in_rings_;
  std::vector<Exchange> exchanges_;
  std::vector<Count> begin_;
  int position_;
  int first_, width_ = 1;  // positions held
  Slice held_;             // of these the sum so far
  bool writable_ = false;
  std::vector<Slice> incoming_;  // buffers
  Slice all_;
};

/// One step with whole vectors: terms come from `from`, -1 standing for a term that there is not,
/// and are added in their order, the same for all who make this sum; from[self] is this rank's own.
struct WholeExchange {
  std::vector<int> from;
  int self = 0;
  std::vector<int> to;
};

/// The steps of a butterfly backwards, long ways first: then all ranks that have a sum of the same
/// terms have added them in the same order, and have the same bits.
std::vector<WholeExchange> whole_exchanges(const Butterfly& butterfly, int rank);

/// Of whole vectors: an allreduce.
class WholeRun {
 public:
  /// `own` is read only, unless it is `workspace`, in which the sum may lie.
  WholeRun(Builder& b, Slice own, Slice workspace);
  void step(const WholeExchange& exchange);
  Slice sum() const { return value_; }

 private:
  Slice take();

  Builder& b_;
  Slice value_;
  bool writable_;
  std::vector<Slice> free_;
};

}  // namespace unisono
