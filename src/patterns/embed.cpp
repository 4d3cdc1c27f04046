#include "patterns/embed.h"

#include <cassert>
#include <utility>
#include <vector>

namespace unisono {

namespace {

/// The members of a group of the part's ranks, as ranks of the whole.
RankGroup within(const RankGroup& group, RankGroup part) {
  for (int& rank : part.ranks) rank = group.rank(rank);
  return part;
}

}  // namespace

void embed(Builder& b, const Schedule& part, const RankGroup& group, Slice input, Slice output,
           const OtherWriters& others) {
  assert(!part.binds_peers() && "see unmet_composition()");
  std::vector<Slice> buffers = {input, output, {kSlots, 0, 0}};
  for (const Count length : part.scratch()) buffers.push_back(b.scratch(length));
  const auto place = [&](Slice slice) {
    const Slice& base = buffers[slice.buffer];
    return Slice{base.buffer, base.offset + slice.offset, slice.length};
  };
  const auto library = [&](GroupCall call) {
    call.group = within(group, std::move(call.group));
    call.input = place(call.input);
    call.output = place(call.output);
    return others.library ? others.library(b, call) : b.library(std::move(call));
  };
  const auto to_group = [&](const Op& op) {
    RankGroup all = within(group, part.groups()[op.group()]);
    const Slice slice = place(op.slice());
    const int root = group.rank(op.peer);
    if (op.kind == OpKind::recv_multicast)
      return others.recv_multicast ? others.recv_multicast(b, root, slice)
                                   : b.recv_multicast(b.group(std::move(all)), root, slice);
    return others.multicast ? others.multicast(b, all, slice)
                            : b.multicast(b.group(std::move(all)), slice);
  };

  b.channel_window(kChannelDepth);  // the part bounds its own messages
  std::vector<OpId> embedded;
  embedded.reserve(part.ops().size());
  for (const Op& op : part.ops()) {
    // Slices alone do not tell what the part asked for beyond them (rounds, windows).
    for (const OpId earlier : part.dependencies(static_cast<OpId>(embedded.size())))
      b.after(embedded[earlier]);
    const int peer = op.is_message() ? group.rank(op.peer) : -1;
    const bool token = op.is_message() && op.length == 0;
    OpId id = kNoOp;
    switch (op.kind) {
      case OpKind::send:
        id = token ? b.send_token(peer) : b.send_by(op.way, peer, place(op.slice()));
        break;
      case OpKind::recv: id = token ? b.recv_token(peer) : b.recv(peer, place(op.slice())); break;
      case OpKind::copy: id = b.copy(place(op.from()), place(op.slice())); break;
      case OpKind::reduce: id = b.reduce(place(op.from()), place(op.slice())); break;
      case OpKind::join: id = b.join(); break;
      case OpKind::enqueue:
      case OpKind::serve: break;
      case OpKind::library: id = library(part.group_calls()[op.call()]); break;
      case OpKind::multicast:
      case OpKind::recv_multicast: id = to_group(op); break;
    }
    embedded.push_back(id);
  }
}

}  // namespace unisono
