// Gather, scatter, allgather and alltoall: copies in and out.
#include <cstddef>

#include "node/copy.h"
#include "node/direct.h"
#include "node/kernels.h"
#include "node/levels.h"
#include "node/pipeline.h"
#include "node/rule.h"

namespace unisono::node {

namespace {

/// A part for every other rank in each chunk. On cache lines of their own, where there is room.
Cut parts_for_others(const Team& team, std::size_t block) {
  constexpr std::size_t kCacheLine = 64;
  const int parts = std::max(1, team.size() - 1);
  const std::size_t each = team.slot_bytes() / static_cast<std::size_t>(parts);
  return {block, each < kCacheLine ? each : each / kCacheLine * kCacheLine, parts};
}
/// Where the part from one rank to another begins in the chunk of the former: its successor's
/// first.
std::size_t part_of(const Team& team, int from, int to, const Cut& cut) {
  return at(to > from ? to - from - 1 : to - from - 1 + team.size(), cut.stride());
}

void gather_blocks(Team& team, const std::byte* input, std::byte* output, std::size_t block,
                   int root) {
  if (block == 0) return;
  const bool is_root = team.rank() == root, reads = is_root || root == kEverybody;
  exchange(
      team, Cut{block, team.slot_bytes()},
      [&](Chunk chunk, std::byte* where) {
        if (!is_root) team.put(where, input + chunk.begin, chunk.size);
      },
      [&](Chunk chunk, const auto& posted) {
        if (!reads) return;
        // While the others' chunk is on its way.
        copy_bytes(output + at(team.rank(), block) + chunk.begin, input + chunk.begin, chunk.size);
        for_others(team, [&](int rank) {
          copy_bytes(output + at(rank, block) + chunk.begin, posted.await(rank), chunk.size);
        });
      });
}

void gather_in_levels(Team& team, const std::byte* input, std::byte* output, std::size_t block,
                      int root) {
  const auto copy = [block](std::byte* to, const std::byte* from) { copy_bytes(to, from, block); };
  collect_in_levels(
      *team.levels(), block, team.rank() == root, [&](std::byte* where) { copy(where, input); },
      copy,
      [&](const auto& message) {
        for (int rank = 0; rank < team.size(); ++rank)
          copy(output + at(rank, block), message(rank));
      });
}

/// Every rank writes a block to everybody: of its input, `stride` apart.
bool push_blocks(Team& team, const std::byte* input, std::byte* output, std::size_t block,
                 std::size_t stride) {
  const int me = team.rank();
  return copy_directly(team, {input, output, true, at(team.size(), block)}, [&](const auto& shown) {
    copy_bytes(output + at(me, block), input + at(me, stride), block);
    return all_others(team, [&](int rank) {
      return push(team, rank, shown(rank), at(me, block), input + at(rank, stride), block);
    });
  });
}

void scatter_directly(Team& team, const std::byte* input, std::byte* output, std::size_t block,
                      int root) {
  copy_with_root(
      team, root, {input, output},
      [&](const Buffers& theirs) {
        return pull(team, root, output, theirs.input + at(team.rank(), block), block);
      },
      [&](int rank) {
        if (team.rank() == root)
          give_through_relay(team, rank, input + at(rank, block), block);
        else
          receive_through_relay(team, rank, root, output, block);
      });
}

}  // namespace

// The root copies out what the others copy in at the same time: (p - 1) m / copy bandwidth.
// Directly, the others write into its buffer, all at the same time.
void gather(Team& team, const std::byte* input, std::byte* output, std::size_t block, int root,
            Protocol way) {
  if (block == 0) return;
  const int me = team.rank();
  way = chosen(team, way, [&](bool direct) { return gather_rule(team, block, root, direct); });
  if (way == Protocol::levels) return gather_in_levels(team, input, output, block, root);
  if (way != Protocol::direct) return gather_blocks(team, input, output, block, root);
  copy_with_root(
      team, root, {input, output, true, at(team.size(), block)},
      [&](const Buffers& theirs) { return push(team, root, theirs, at(me, block), input, block); },
      [&](int rank) {
        if (me == rank)
          give_through_relay(team, rank, input, block);
        else
          receive_through_relay(team, rank, rank, output + at(rank, block), block);
      });
}

// Everybody copies m in and (p - 1) m out; directly, (p - 1) m.
void allgather(Team& team, const std::byte* input, std::byte* output, std::size_t block,
               Protocol way) {
  if (block == 0) return;
  way = chosen(team, way, [&](bool direct) { return allgather_rule(team, block, direct); });
  if (way == Protocol::direct && push_blocks(team, input, output, block, 0)) return;
  gather_blocks(team, input, output, block, kEverybody);
}

void scatter(Team& team, const std::byte* input, std::byte* output, std::size_t block, int root,
             Protocol way) {
  if (block == 0) return;
  way = chosen(team, way, [&](bool direct) { return scatter_rule(team, block, direct); });
  if (way == Protocol::direct) return scatter_directly(team, input, output, block, root);
  const Cut cut = parts_for_others(team, block);
  post(
      team, root, cut,
      [&](Chunk chunk, std::byte* where) {
        for_others(team, [&](int rank) {
          team.put(where + part_of(team, root, rank, cut), input + at(rank, block) + chunk.begin,
                   chunk.size);
        });
      },
      [&](Chunk chunk, const std::byte* where) {
        copy_bytes(output + chunk.begin, where + part_of(team, root, team.rank(), cut), chunk.size);
      });
  if (team.rank() == root) copy_bytes(output, input + at(root, block), block);
}

// Everybody copies (p - 1) m in and out; directly, (p - 1) m. In place: a chunk of all blocks is in
// before it is overwritten.
void alltoall(Team& team, const std::byte* input, std::byte* output, std::size_t block,
              Protocol way) {
  if (block == 0) return;
  way = chosen(team, way, [&](bool direct) { return alltoall_rule(team, block, direct); });
  if (way == Protocol::direct && input != output && push_blocks(team, input, output, block, block))
    return;
  const Cut cut = parts_for_others(team, block);
  const int me = team.rank();
  exchange(
      team, cut,
      [&](Chunk chunk, std::byte* where) {
        for_others(team, [&](int rank) {
          team.put(where + part_of(team, me, rank, cut), input + at(rank, block) + chunk.begin,
                   chunk.size);
        });
      },
      [&](Chunk chunk, const auto& posted) {
        const std::size_t own = at(me, block) + chunk.begin;
        copy_bytes(output + own, input + own, chunk.size);
        for_others(team, [&](int rank) {
          copy_bytes(output + at(rank, block) + chunk.begin,
                     posted.await(rank) + part_of(team, rank, me, cut), chunk.size);
        });
      });
}

}  // namespace unisono::node
