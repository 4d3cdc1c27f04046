// Blocks of the user's buffers as runs: what lies between "block i" of a layout, which may stand
// anywhere, and "one message with many blocks", which must be one slice.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "patterns/partition.h"
#include "patterns/rotation.h"
#include "schedule/builder.h"

namespace unisono {

/// The blocks of a layout in cyclic order: position v stands for block order.rank(v). O(1) to make
/// for equal blocks and O(p) for irregular ones; lengths of runs are O(1) afterwards. The layout's
/// arrays must live as long.
class BlockOrder {
 public:
  BlockOrder(const Layout& layout, const Rotation& order);

  int size() const { return order_.size; }
  int block(int position) const { return order_.rank(position); }
  /// Units in the positions [0, position).
  Count before(int position) const;
  /// Units in the positions [from, to).
  Count length(int from, int to) const { return before(to) - before(from); }
  /// The blocks at [from, to) in `run`, which holds the blocks from position `begin` on.
  Slice part(Slice run, int begin, int from, int to) const;
  /// Where the block at a position lies in a user's buffer.
  Slice at(BufferId buffer, int position) const;
  /// The blocks at [from, to) as one slice of a user's buffer, if they lie there in this order.
  std::optional<Slice> run(BufferId buffer, int from, int to) const;
  /// How a run of all blocks in rank order is cut; valid while this object lives.
  Partition partition(Slice run) const;

 private:
  Layout layout_;
  Rotation order_;
  std::vector<Count> before_;  // irregular only; p + 1 entries
};

/// One of the user's buffers, seen as runs of blocks in a given order: a run is used where it lies
/// if its blocks lie there in that order, otherwise it is staged in scratch. Which of the two is a
/// matter of this rank only, for the messages are the same. Ask for a run once: every staged run is
/// a scratch buffer.
class UserRuns {
 public:
  UserRuns(Builder& b, BlockOrder order, BufferId buffer);

  /// The run [from, to), its blocks copied into it: to send from.
  Slice packed(int from, int to);
  /// A slice for the run [from, to): to receive into. unpack() brings the blocks home.
  Slice place(int from, int to);
  /// Copies what place() has staged to the user's buffer.
  void unpack();

 private:
  struct Run {
    int from, to;
    Slice slice;
  };

  Builder& b_;
  BlockOrder order_;
  BufferId buffer_;
  std::vector<Run> placed_;
};

/// Allgather: the whole output as one run of blocks in the given order, in the output itself if it
/// lies there so, else in scratch. This rank's own block is in it from the start.
class GatheredOutput {
 public:
  GatheredOutput(Builder& b, const Rotation& order);
  /// In the order of another layout, whose block `own` is this rank's.
  GatheredOutput(Builder& b, const Layout& reordered, int own);

  /// The blocks at the positions [from, to).
  Slice range(int from, int to) const { return blocks_.part(all_, 0, from, to); }
  Partition partition() const { return blocks_.partition(all_); }
  /// Brings the blocks home when all are there.
  void finish() { runs_.unpack(); }

 private:
  GatheredOutput(Builder& b, BlockOrder blocks, int own);

  BlockOrder blocks_;
  UserRuns runs_;
  Slice all_;
};

/// Copies from(i) into into(i) for i in [0, n), neighbours on both sides in one op.
void copy_blocks(Builder& b, int n, const std::function<Slice(int)>& from,
                 const std::function<Slice(int)>& into);

/// Alltoall: the input blocks in a place that receiving into the output does not overwrite. In
/// place, input block i IS output block i, and sending it waits for the peer to receive, which may
/// wait for this rank to receive: so all but the own block are copied to scratch first, (p - 1) b.
std::function<Slice(int)> staged_input(Builder& b);

}  // namespace unisono
