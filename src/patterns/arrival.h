// Who is predicted to arrive late, and what algorithms that believe it are made of. A prediction is
// equal on all ranks. Right or wrong, it changes when data move, never what the result is.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "patterns/partition.h"
#include "patterns/rotation.h"
#include "patterns/window.h"
#include "schedule/builder.h"

namespace unisono {

/// The same list always has the same address, for as long as the process lives: so Params can be
/// compared and hashed. Thread-safe.
const std::vector<int>* intern(const std::vector<int>& ranks);

/// The ranks in the order in which they are predicted to arrive: position 0 first. Those that
/// params.late does not name come before those it names, in rank order; without it the last rank
/// is late. One rank at least is early, and ranks that the communicator does not have are
/// disregarded. Time and memory linear in the list.
class ArrivalOrder {
 public:
  explicit ArrivalOrder(const Args& args);

  /// The late ranks, the very last one last. Empty if there is only one rank.
  std::span<const int> late() const { return late_; }
  bool is_late(int rank) const;
  /// All others, in rank order. Valid while this object lives.
  Rotation early() const { return {size_ - static_cast<int>(late_.size()), 0, sorted_}; }

  int rank(int position) const;
  int position(int rank) const;
  int last() const { return rank(size_ - 1); }

  /// Who is predicted to arrive next before or after `rank`, as if `without` (a rank or -1) did not
  /// exist. -1: nobody.
  int before(int rank, int without = -1) const { return neighbour(rank, -1, without); }
  int after(int rank, int without = -1) const { return neighbour(rank, 1, without); }

 private:
  int neighbour(int rank, int step, int without) const;

  int size_;
  std::vector<int> late_;
  std::vector<int> sorted_;
};

/// A rank's place in a chain or a tree that adds vectors up, params.window segments under way.
class ChainSum {
 public:
  /// `workspace`: a vector in which the sums may lie, or a slice of length 0: then there is scratch
  /// for them.
  ChainSum(Builder& b, Slice workspace)
      : b_(b),
        workspace_(workspace),
        slots_(b, b.args().segment_of(b.input().length), b.args().params.window),
        others_(b, b.args().segment_of(b.input().length), b.args().params.window) {}

  /// Receives a sum from `from` and adds this rank's `segment`. Returns where the result lies.
  Slice add(int from, Slice segment) { return add(std::span(&from, 1), segment); }
  /// This rank's `segment`, then the sums of `from` in their order; the segment itself if there are
  /// none.
  Slice add(std::span<const int> from, Slice segment);

 private:
  Slice place(Slice segment);
  void receive(int from, Slice sum, std::size_t window);

  Builder& b_;
  Slice workspace_;
  Slots slots_, others_;  // others_: of all but the last to be added
  std::vector<OpId> received_;
};

/// Allreduce: a segment of the vector, in the block of one early rank.
struct Piece {
  int early;     ///< position in order.early(): whose block
  Count at = 0;  ///< in the vector
  Slice output;  ///< where its sum goes
};

/// The vector as a Partition among the early ranks, each block in segments of params.segment.
std::vector<Piece> pieces(const Builder& b, const ArrivalOrder& order);

/// What the late ranks do to bring piece i, summed over the early ranks, from rank source(i) to the
/// output of the last, each adding its own as soon as it has arrived and those before it have;
/// params.window pieces under way, so that the first is there before the last begins. Nothing on
/// early ranks.
void add_late(Builder& b, const ArrivalOrder& order, std::span<const Piece> pieces,
              const std::function<int(int)>& source);

}  // namespace unisono
