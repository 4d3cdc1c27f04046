#include "patterns/blocks.h"

#include <cassert>
#include <utility>

namespace unisono {

// ---- the order ----------------------------------------------------------------------------------

BlockOrder::BlockOrder(const Layout& layout, const Rotation& order)
    : layout_(layout), order_(order) {
  if (layout.counts.empty()) return;
  before_.reserve(static_cast<std::size_t>(size()) + 1);
  before_.push_back(0);
  for (int v = 0; v < size(); ++v) before_.push_back(before_.back() + layout.length(block(v)));
}

Count BlockOrder::before(int position) const {
  return before_.empty() ? layout_.count * position : before_[static_cast<std::size_t>(position)];
}

Slice BlockOrder::part(Slice run, int begin, int from, int to) const {
  return run.part(length(begin, from), length(from, to));
}

Slice BlockOrder::at(BufferId buffer, int position) const {
  return {buffer, layout_.offset(block(position)), length(position, position + 1)};
}

std::optional<Slice> BlockOrder::run(BufferId buffer, int from, int to) const {
  const Count total = length(from, to);
  if (total == 0) return Slice{buffer, 0, 0};
  if (layout_.displs.empty()) {
    if (block(to - 1) - block(from) != to - 1 - from) return std::nullopt;  // wraps, or leaves out
    return Slice{buffer, layout_.offset(block(from)), total};
  }
  std::optional<Slice> run;  // what has been joined; displacements may be negative
  for (int v = from; v < to; ++v) {
    const Slice block = at(buffer, v);
    if (block.length == 0) continue;
    if (!run) run = Slice{buffer, block.offset, 0};
    if (block.offset != run->offset + run->length) return std::nullopt;
    run->length += block.length;
  }
  return run;
}

Partition BlockOrder::partition(Slice run) const {
  assert(order_.root == 0);
  Layout packed{layout_.count, layout_.counts, {}};
  if (!before_.empty()) packed.displs = std::span(before_).first(static_cast<std::size_t>(size()));
  return {run, packed, size()};
}

// ---- runs of a user's buffer --------------------------------------------------------------------

UserRuns::UserRuns(Builder& b, BlockOrder order, BufferId buffer)
    : b_(b), order_(std::move(order)), buffer_(buffer) {}

Slice UserRuns::packed(int from, int to) {
  if (const auto run = order_.run(buffer_, from, to)) return *run;
  const Slice slice = b_.scratch(order_.length(from, to));
  copy_blocks(
      b_, to - from, [&](int i) { return order_.at(buffer_, from + i); },
      [&](int i) { return order_.part(slice, from, from + i, from + i + 1); });
  return slice;
}

Slice UserRuns::place(int from, int to) {
  if (const auto run = order_.run(buffer_, from, to)) return *run;
  return placed_.emplace_back(Run{from, to, b_.scratch(order_.length(from, to))}).slice;
}

void UserRuns::unpack() {
  for (const Run& run : placed_)
    copy_blocks(
        b_, run.to - run.from,
        [&](int i) { return order_.part(run.slice, run.from, run.from + i, run.from + i + 1); },
        [&](int i) { return order_.at(buffer_, run.from + i); });
  placed_.clear();
}

// ---- all of an allgather ------------------------------------------------------------------------

GatheredOutput::GatheredOutput(Builder& b, BlockOrder blocks, int own)
    : blocks_(std::move(blocks)), runs_(b, blocks_, kOutput), all_(runs_.place(0, b.size())) {
  b.copy(b.input(), range(own, own + 1));
}

GatheredOutput::GatheredOutput(Builder& b, const Rotation& order)
    : GatheredOutput(b, BlockOrder(b.args().recv, order), order.position(b.rank())) {}

GatheredOutput::GatheredOutput(Builder& b, const Layout& reordered, int own)
    : GatheredOutput(b, BlockOrder(reordered, {b.size()}), own) {}

// ---- copies -------------------------------------------------------------------------------------

void copy_blocks(Builder& b, int n, const std::function<Slice(int)>& from,
                 const std::function<Slice(int)>& into) {
  const auto extends = [](Slice left, Slice right) {
    return left.buffer == right.buffer && left.offset + left.length == right.offset;
  };
  Slice source, target;
  for (int i = 0; i < n; ++i) {
    const Slice s = from(i);
    const Slice t = into(i);
    if (s.length == 0) continue;
    if (source.length > 0 && extends(source, s) && extends(target, t)) {
      source.length += s.length;
      target.length += t.length;
      continue;
    }
    b.copy(source, target);
    source = s;
    target = t;
  }
  b.copy(source, target);
}

std::function<Slice(int)> staged_input(Builder& b) {
  if (!b.args().in_place) return [&b](int i) { return b.input_block(i); };
  const Rotation rotation{b.size(), b.rank()};
  const BlockOrder order(b.args().recv, rotation);
  const Slice stage = b.scratch(order.length(1, b.size()));
  const auto staged = [order, stage](int v) { return order.part(stage, 1, v, v + 1); };
  copy_blocks(
      b, b.size() - 1, [&](int i) { return b.input_block(order.block(i + 1)); },
      [&](int i) { return staged(i + 1); });
  return [&b, staged, rotation](int i) {
    return i == b.rank() ? b.input_block(i) : staged(rotation.position(i));
  };
}

}  // namespace unisono
