// Ways to cut a vector: into blocks, one per rank, or into pipeline segments.
#pragma once
#include <vector>

#include "schedule/args.h"

namespace unisono {

/// Block i of `whole` cut into `parts`; the first length % parts blocks are one unit longer.
Slice block_of(Slice whole, int i, int parts);

/// Blocks [first, last) of the same cut, which are adjacent.
Slice blocks_of(Slice whole, int first, int last, int parts);

/// The pipeline segments of `whole` for params.segment, in order; none when it is empty.
std::vector<Slice> segments(Slice whole, const Args& args);

/// Adjacent blocks that make up a vector: nearly equal, or as a layout says.
class Partition {
 public:
  Partition(Slice whole, int parts) : whole_(whole), parts_(parts) {}
  /// The layout's blocks must lie one behind the other in rank order (MPI_Reduce_scatter).
  Partition(Slice whole, const Layout& layout, int parts)
      : whole_(whole), parts_(parts), layout_(layout), given_(true) {}

  int parts() const { return parts_; }
  Slice block(int i) const { return range(i, i + 1); }
  /// Blocks [first, last), which are one slice.
  Slice range(int first, int last) const;
  /// `count` blocks from block `first` on, block 0 following the last one: at most two slices, the
  /// same cut for everyone who asks for these blocks.
  std::vector<Slice> cyclic(int first, int count) const;
  /// Units in the blocks cyclic(first, count).
  Count cyclic_length(int first, int count) const;
  Count longest_block() const;

  /// The same cut of another vector.
  Partition in(Slice other) const;
  /// The same cut with block `first` at the start of `home`; for blocks that fit in there.
  Partition from(int first, Slice home) const;

 private:
  Slice whole_;
  int parts_;
  Layout layout_;
  bool given_ = false;
};

}  // namespace unisono
