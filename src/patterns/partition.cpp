#include "patterns/partition.h"

#include <algorithm>
#include <cassert>

namespace unisono {

Slice blocks_of(Slice whole, int first, int last, int parts) {
  const Count base = whole.length / parts;
  const Count longer = whole.length % parts;
  const auto begin_of = [&](int i) { return base * i + std::min<Count>(i, longer); };
  return whole.part(begin_of(first), begin_of(last) - begin_of(first));
}

Slice block_of(Slice whole, int i, int parts) { return blocks_of(whole, i, i + 1, parts); }

std::vector<Slice> segments(Slice whole, const Args& args) {
  const Count step = args.segment_of(whole.length);
  std::vector<Slice> result;
  for (Count at = 0; at < whole.length; at += step)
    result.push_back(whole.part(at, std::min(step, whole.length - at)));
  return result;
}

Slice Partition::range(int first, int last) const {
  if (!given_) return blocks_of(whole_, first, last, parts_);
  const auto begin_of = [&](int i) { return i == parts_ ? whole_.length : layout_.offset(i); };
  return whole_.part(begin_of(first), begin_of(last) - begin_of(first));
}

std::vector<Slice> Partition::cyclic(int first, int count) const {
  first %= parts_;
  if (first + count <= parts_) return {range(first, first + count)};
  return {range(first, parts_), range(0, first + count - parts_)};
}

Count Partition::cyclic_length(int first, int count) const {
  Count length = 0;
  for (const Slice slice : cyclic(first, count)) length += slice.length;
  return length;
}

Count Partition::longest_block() const {
  if (!given_) return block(0).length;
  if (layout_.counts.empty()) return layout_.count;
  return *std::max_element(layout_.counts.begin(), layout_.counts.end());
}

Partition Partition::in(Slice other) const {
  assert(other.length == whole_.length);
  Partition result = *this;
  result.whole_ = other;
  return result;
}

Partition Partition::from(int first, Slice home) const {
  const Count before = range(first, first).offset - whole_.offset;
  return in({home.buffer, home.offset - before, whole_.length});
}

}  // namespace unisono
