// Barrier and broadcast.
#include "node/copy.h"
#include "node/direct.h"
#include "node/kernels.h"
#include "node/levels.h"
#include "node/pipeline.h"
#include "node/rule.h"

namespace unisono::node {

namespace {

// Where every rank has a core the root writes as much as a reader reads, (p-1)/p m, instead of
// waiting: for two ranks half the time. Otherwise its core has other work, and readers that need
// not wait are worth more.
[[gnu::noinline]] bool bcast_directly(Team& team, std::byte* data, std::size_t bytes, int root) {
  const int me = team.rank();
  if (team.mode() == WaitMode::sleep) {
    copy_with_root(
        team, root, {data, data},
        [&](const Buffers& theirs) {
          return me == root || pull(team, root, data, theirs.input, bytes);
        },
        [&](int rank) {
          if (me == root)
            give_through_relay(team, rank, data, bytes);
          else
            receive_through_relay(team, rank, root, data, bytes);
        });
    return true;
  }
  const std::size_t pulled = bytes - bytes / static_cast<std::size_t>(team.size());
  return copy_directly(team, {data, data, true, bytes}, [&](const auto& shown) {
    if (me != root) return pull(team, root, data, shown(root).input, pulled);
    return all_others(team, [&](int rank) {
      return push(team, rank, shown(rank), pulled, data + pulled, bytes - pulled);
    });
  });
}

// What is short is posted without levels where ranks share a cache: not inlined there.
[[gnu::noinline]] void bcast_in_levels(Team& team, std::byte* data, std::size_t bytes, int root) {
  post_in_levels(
      *team.levels(), root, [=](std::byte* where) { copy_bytes(where, data, bytes); },
      [=](const std::byte* where) { copy_bytes(data, where, bytes); });
}

[[gnu::noinline]] void barrier_in_levels(Team& team) {
  const auto nothing = [](auto&&...) {};
  exchange_in_levels(*team.levels(), 0, nothing, nothing, nothing, nothing, nothing);
}

}  // namespace

// Everybody publishes a step and waits for everybody's: one line from each to each; with a gate, an
// atomic addition each and one wake-up.
void barrier(Team& team, Protocol way) {
  way = chosen(team, way, [&](bool) { return barrier_rule(team); });
  if (way == Protocol::levels) return barrier_in_levels(team);
  const Step step = team.take(1);
  team.claim(step);
  team.publish_jointly(step);
  team.meet_all(step);
  team.finish(step);
}

// The root copies chunks in, the others copy them out behind it: m / copy bandwidth and a chunk.
// The root of short messages runs ahead of the slowest reader by kCells calls.
void bcast(Team& team, std::byte* data, std::size_t bytes, int root, Protocol way) {
  if (bytes == 0) return;
  const auto rule = [&](bool direct) { return bcast_rule(team, bytes, direct); };
  way = chosen(team, way, rule);
  if (way == Protocol::direct) {
    if (bcast_directly(team, data, bytes, root)) return;
    way = rule(false);
  }
  if (way == Protocol::levels) return bcast_in_levels(team, data, bytes, root);
  const Cut cut{bytes, team.slot_bytes()};
  post(
      team, root, cut,
      [&](Chunk chunk, std::byte* where) { team.put(where, data + chunk.begin, chunk.size); },
      [data](Chunk chunk, const std::byte* where) {
        copy_bytes(data + chunk.begin, where, chunk.size);
      });
}

}  // namespace unisono::node
