#include "schedule/builder.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <string>
#include <utility>

namespace unisono {

Builder::Builder(const Args& args) : args_(args), touched_(kFirstScratch) {}

// ---- buffers ------------------------------------------------------------------------------------

bool Builder::adjacent_output() const {
  if (args_.recv.displs.empty()) return true;
  Count next = args_.recv.displs[0];
  for (int i = 0; i < args_.size; next += args_.recv.length(i++))
    if (args_.recv.displs[static_cast<std::size_t>(i)] != next) return false;
  return true;
}

Slice Builder::output_blocks(int first, int count) const {
  if (count == 0) return {kOutput, 0, 0};
  return {kOutput, args_.recv.offset(first), args_.recv.total(first, first + count)};
}

Slice Builder::scratch(Count length) {
  if (scratch_.size() == kMostScratch)
    throw std::length_error("more than " + std::to_string(kMostScratch) +
                            " scratch buffers in a schedule");
  const auto id = static_cast<BufferId>(kFirstScratch + scratch_.size());
  scratch_.push_back(length);
  touched_.emplace_back();
  return {id, 0, length};
}

Slice Builder::slots(Count count) {
  slots_ += count;
  return {kSlots, slots_ - count, count};
}

// ---- ops ----------------------------------------------------------------------------------------

OpId Builder::send(int peer, Slice slice) {
  return slice.length == 0 ? kNoOp : add_message(OpKind::send, peer, slice);
}

OpId Builder::recv(int peer, Slice slice) {
  return slice.length == 0 ? kNoOp : add_message(OpKind::recv, peer, slice);
}

OpId Builder::send_by(std::uint8_t way, int peer, Slice slice) {
  const OpId id = send(peer, slice);
  if (id != kNoOp) ops_[id].way = way;
  return id;
}

OpId Builder::send_token(int peer) { return add_message(OpKind::send, peer, {}); }
OpId Builder::recv_token(int peer) { return add_message(OpKind::recv, peer, {}); }

OpId Builder::copy(Slice from, Slice into) {
  return from == into ? kNoOp : add_local(OpKind::copy, from, into);
}

OpId Builder::reduce(Slice from, Slice into) { return add_local(OpKind::reduce, from, into); }

OpId Builder::add_local(OpKind kind, Slice from, Slice into) {
  assert(from.length == into.length);
  if (from.length == 0) return kNoOp;
  return add({.kind = kind,
              .buffer = into.buffer,
              .from_buffer = from.buffer,
              .offset = into.offset,
              .length = into.length,
              .from_offset = from.offset});
}

OpId Builder::add_message(OpKind kind, int peer, Slice slice) {
  assert(peer < kNobody || (peer >= 0 && peer < args_.size && peer != args_.rank));
  std::vector<OpId>& before = channel(kind, peer);
  const auto sent = static_cast<Count>(before.size());
  if (sent >= window_) after(before[static_cast<std::size_t>(sent - window_)]);
  // By windows it comes after those that are whole windows before it: others may have its tag.
  if (sent >= kChannelDepth && kChannelDepth % window_ != 0)
    after(before[static_cast<std::size_t>(sent - kChannelDepth)]);
  const OpId id = add({.kind = kind,
                       .buffer = slice.buffer,
                       .peer = peer,
                       .offset = slice.offset,
                       .length = slice.length,
                       .from_offset = sent + (peer < kNobody ? 1 : 0)});
  before.push_back(id);
  return id;
}

BufferId Builder::group(RankGroup ranks) {
  const auto known = std::find(groups_.begin(), groups_.end(), ranks);
  if (known != groups_.end()) return static_cast<BufferId>(known - groups_.begin());
  if (groups_.size() == kMostGroups)
    throw std::length_error("more than " + std::to_string(kMostGroups) + " groups in a schedule");
  groups_.push_back(std::move(ranks));
  group_messages_.push_back(0);
  return static_cast<BufferId>(groups_.size() - 1);
}

OpId Builder::multicast(BufferId group, Slice slice) {
  return add_multicast(OpKind::multicast, group, args_.rank, slice);
}

OpId Builder::recv_multicast(BufferId group, int root, Slice slice) {
  assert(root != args_.rank);
  return add_multicast(OpKind::recv_multicast, group, root, slice);
}

OpId Builder::add_multicast(OpKind kind, BufferId group, int peer, Slice slice) {
  if (slice.length == 0) return kNoOp;
  return add({.kind = kind,
              .buffer = slice.buffer,
              .from_buffer = group,
              .peer = peer,
              .offset = slice.offset,
              .length = slice.length,
              .from_offset = group_messages_[group]++});
}

OpId Builder::library(GroupCall call) {
  end_round();
  const OpId id = add({.kind = OpKind::library, .from_offset = static_cast<Count>(calls_.size())});
  calls_.push_back(std::move(call));
  end_round();
  return id;
}

OpId Builder::enqueue(int peer, Slice neighbours) {
  assert(neighbours.buffer == kSlots && neighbours.length == 2);
  return add({.kind = OpKind::enqueue,
              .buffer = kSlots,
              .peer = peer,
              .offset = neighbours.offset,
              .length = neighbours.length});
}

OpId Builder::serve(Slice first, Count pause) {
  assert(first.buffer == kSlots && first.length == 1);
  channel(OpKind::send, bound(first)).clear();  // the next messages go to somebody else
  return add({.kind = OpKind::serve,
              .buffer = kSlots,
              .offset = first.offset,
              .length = 1,
              .from_offset = pause});
}

OpId Builder::add(const Op& op) {
  const auto id = static_cast<OpId>(ops_.size());
  ops_.push_back(op);
  for (const OpId earlier : pending_) depend(earlier);
  pending_.clear();
  if (op.is_bound()) depend_on_readers_and_writer(id, {kSlots, op.slot(), 1}, false);
  switch (op.kind) {
    case OpKind::send:
    case OpKind::multicast: depend_on_readers_and_writer(id, op.slice(), false); break;
    case OpKind::recv:
    case OpKind::recv_multicast:
    case OpKind::enqueue:
    case OpKind::serve: depend_on_readers_and_writer(id, op.slice(), true); break;
    case OpKind::copy:
    case OpKind::reduce:
      depend_on_readers_and_writer(id, op.from(), false);
      depend_on_readers_and_writer(id, op.slice(), true);
      break;
    case OpKind::join:
    case OpKind::library: break;  // after() or the rounds around it say what they wait for
  }
  // What lies before the last join is implied by the join, and the join by any op after it.
  auto begin = deps_.begin() + first_dep_.back();
  deps_.erase(std::remove_if(begin, deps_.end(), [&](OpId d) { return d < round_begin_; }),
              deps_.end());
  begin = deps_.begin() + first_dep_.back();
  if (begin == deps_.end() && round_ != kNoOp) deps_.push_back(round_);
  begin = deps_.begin() + first_dep_.back();
  std::sort(begin, deps_.end());
  deps_.erase(std::unique(begin, deps_.end()), deps_.end());
  first_dep_.push_back(static_cast<std::uint32_t>(deps_.size()));
  return id;
}

void Builder::depend(OpId on) {
  if (on != kNoOp && on != ops_.size() - 1) deps_.push_back(on);
}

// The user's input is never written, so that reads of it need no record.
void Builder::depend_on_readers_and_writer(OpId id, Slice slice, bool writes) {
  if (slice.buffer == kInput || slice.length == 0) return;
  Intervals& intervals = touched_[slice.buffer];
  const Count begin = slice.offset;
  const Count end = slice.offset + slice.length;

  const auto split_at = [&](Count at) {
    auto it = intervals.lower_bound(at);
    if (it == intervals.begin()) return;
    auto& left = std::prev(it)->second;
    if (left.end <= at) return;
    Touch right = left;
    left.end = at;
    intervals.emplace_hint(it, at, std::move(right));
  };
  split_at(begin);
  split_at(end);

  auto it = intervals.lower_bound(begin);
  if (writes) {
    for (; it != intervals.end() && it->first < end; it = intervals.erase(it)) {
      if (it->second.readers.empty()) depend(it->second.writer);
      for (const OpId reader : it->second.readers) depend(reader);
    }
    intervals.emplace_hint(it, begin, Touch{end, id, {}});
    return;
  }
  Count at = begin;
  while (at < end) {
    if (it == intervals.end() || it->first > at) {  // a gap nobody has touched yet
      const Count gap_end = it == intervals.end() ? end : std::min(end, it->first);
      it = intervals.emplace_hint(it, at, Touch{gap_end, kNoOp, {id}});
    } else {
      depend(it->second.writer);
      it->second.readers.push_back(id);
    }
    at = it->second.end;
    ++it;
  }
}

// ---- order --------------------------------------------------------------------------------------

void Builder::end_round() {
  if (ops_.empty() || round_ + 1 == ops_.size()) return;
  for (OpId i = round_begin_; i < ops_.size(); ++i) after(i);
  const OpId id = join();
  round_ = id;
  round_begin_ = id;
}

OpId Builder::join() { return add({.kind = OpKind::join}); }

void Builder::after(OpId id) {
  if (id != kNoOp) pending_.push_back(id);
}

void Builder::channel_window(Count messages) {
  assert(messages >= 1 && messages <= kChannelDepth);
  window_ = messages;
}

Schedule Builder::finish() && {
  return {std::move(ops_),     std::move(first_dep_), std::move(deps_),
          std::move(scratch_), std::move(calls_),     static_cast<std::size_t>(slots_),
          std::move(groups_)};
}

}  // namespace unisono
