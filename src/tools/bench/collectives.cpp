#include "tools/bench/collectives.h"

#include <array>
#include <cassert>

#include "tools/bench/cell.h"

namespace unisono::bench {

namespace {

constexpr Part part_of(SideShape shape) {
  if (shape == SideShape::nothing) return Part::none;
  return is_per_peer(shape) ? Part::all : Part::block;
}
constexpr Holder holder_of(Who who) { return who == Who::root ? Holder::root : Holder::every; }

constexpr auto kCalls = [] {
  std::array<CollectiveCall, kCollectives> calls{};
  for (const Semantics& s : kSemantics) {
    const SideShape sent = has_one_buffer(s) ? s.receive.shape : s.send.shape;
    calls[static_cast<std::size_t>(s.collective)] = {s.collective,
                                                     part_of(sent),
                                                     holder_of(s.send.who),
                                                     part_of(s.receive.shape),
                                                     holder_of(s.receive.who),
                                                     synchronises(s),
                                                     s.in_place != InPlace::nowhere};
  }
  return calls;
}();

Ranks only(int rank) { return {rank, rank + 1}; }

/// Who has the data that this rank gets as its block `block`.
int source(const Cell& c, const Semantics& s, int block) {
  if (s.peers == Peers::neighbours) return c.received[c.at(block)].from;
  if (is_per_peer(s.receive.shape)) return block;
  return has_one_buffer(s) ? c.first_root : c.root;  // later roots pass on what the first one had
}

}  // namespace

const CollectiveCall& call_of(Collective collective) {
  const CollectiveCall& call = kCalls[static_cast<std::size_t>(collective)];
  assert(call.collective == collective);
  return call;
}

std::string_view sized(Measure measure) {
  switch (measure) {
    case Measure::nothing: return "";
    case Measure::vector: return "vector";
    case Measure::block: return "block of a rank";
    case Measure::blocks: return "vector of all ranks' blocks";
  }
  return "";
}

Expected expected(const Cell& c, int block) {
  const Semantics& s = semantics(c.what.collective);
  const int sent = s.peers == Peers::neighbours ? c.received[c.at(block)].sent : c.rank;
  const Count start = is_per_peer(s.send.shape) ? c.displs[c.at(sent)] : 0;
  switch (s.combines) {
    case Combines::nobody: return {only(source(c, s, block)), start};
    case Combines::all_ranks: return {{0, c.size}, start};
    case Combines::ranks_up_to: return {{0, c.rank + 1}, start};
    case Combines::ranks_before: return {{0, c.rank}, start};
  }
  return {};
}

}  // namespace unisono::bench
