// The calls whose blocks have different lengths, and whether their results are right.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/node/data.h"

namespace unisono::node {

inline bool is_irregular(What what) {
  return (what >= What::allgatherv && what <= What::alltoallv) || what == What::reduce_scatter;
}

/// How much `from` has for `to`; where blocks have one rank only, the other is 0.
inline std::size_t count_between(const Call& call, int from, int to) {
  if (call.what == What::alltoallv && call.in_place && from > to) std::swap(from, to);
  const auto draw = random_word(call.seed, static_cast<std::uint64_t>(64 * from + to));
  switch (random_word(call.seed, 1 << 20) % 6) {
    case 0: return draw % (call.count + 1);
    case 1: return draw % 2 == 0 ? 0 : call.count;
    case 2: return draw % 8 == 0 ? call.count : 0;
    case 3: return from - to == 1 || to - from == 1 ? call.count : 0;  // one for all, or neighbours
    case 4: return from == 1 ? call.count : 0;                         // one has everything
    default: return call.count;
  }
}
inline Bytes block_between(const Call& call, int from, int to) {
  return contribution(call, 8 * from + to, count_between(call, from, to));
}

/// A buffer with gaps between the blocks, the last rank's first, and on both sides of where
/// displacements begin.
class Blocks {
 public:
  template <class CountOf>
  Blocks(int size, CountOf count_of) {
    std::size_t end = 1;
    for (int rank = size - 1; rank >= 0; --rank) {
      counts_.insert(counts_.begin(), static_cast<std::int64_t>(count_of(rank)));
      displs_.insert(displs_.begin(), static_cast<std::int64_t>(end));
      end += count_of(rank) + static_cast<std::size_t>(1 + rank % 3);
    }
    memory_.resize(end, kUntouched);
    for (std::int64_t& displ : displs_) displ -= static_cast<std::int64_t>(end / 2);
  }
  std::byte* origin() { return memory_.data() + memory_.size() / 2; }
  PerRank counts() const { return counts_; }
  PerRank displs() const { return displs_; }
  std::byte* block(int rank) { return origin() + displs_[static_cast<std::size_t>(rank)]; }
  void put(int rank, const Bytes& data) { std::copy(data.begin(), data.end(), block(rank)); }
  bool operator==(const Blocks& other) const { return memory_ == other.memory_; }

 private:
  std::vector<std::int64_t> counts_, displs_;
  Bytes memory_;
};

inline bool gathers_irregularly(Team& team, const Call& call) {
  const bool all = call.what == What::allgatherv;
  const int me = team.rank();
  const bool reads = all || me == call.root, in_place = call.in_place && reads;
  Blocks output(team.size(), [&](int rank) { return count_between(call, rank, 0); });
  Blocks expected = output;
  for (int rank = 0; reads && rank < team.size(); ++rank)
    expected.put(rank, block_between(call, rank, 0));
  Bytes mine = block_between(call, me, 0);
  if (in_place) output.put(me, mine);
  const std::byte* input = in_place ? output.block(me) : mine.data();
  {
    const InKernel kernel;
    if (all)
      allgatherv(team, input, output.origin(), output.counts(), output.displs(), call.way);
    else if (reads)
      gatherv(team, input, mine.size(), output.origin(), output.counts(), output.displs(),
              call.root, call.way);
    else
      gatherv(team, input, mine.size(), nullptr, {}, {}, call.root, call.way);
  }
  return output == expected;
}

inline bool scatters_irregularly(Team& team, const Call& call) {
  const int me = team.rank();
  const bool is_root = me == call.root, in_place = call.in_place && is_root;
  Blocks input(team.size(), [&](int rank) { return count_between(call, 0, rank); });
  for (int rank = 0; is_root && rank < team.size(); ++rank)
    input.put(rank, block_between(call, 0, rank));
  const Blocks before = input;
  const Bytes mine = block_between(call, 0, me);
  Bytes output(mine.size() + 8, kUntouched), expected = output;
  if (!in_place) std::copy(mine.begin(), mine.end(), expected.begin());
  std::byte* into = in_place ? input.block(me) : output.data();
  {
    const InKernel kernel;
    if (is_root)
      scatterv(team, input.origin(), input.counts(), input.displs(), into, mine.size(), call.root,
               call.way);
    else
      scatterv(team, nullptr, {}, {}, into, mine.size(), call.root, call.way);
  }
  return output == expected && input == before;
}

inline bool exchanges_irregularly(Team& team, const Call& call) {
  const int me = team.rank();
  Blocks input(team.size(), [&](int rank) { return count_between(call, me, rank); });
  Blocks output(team.size(), [&](int rank) { return count_between(call, rank, me); });
  Blocks expected = output, &from = call.in_place ? output : input;
  for (int rank = 0; rank < team.size(); ++rank) {
    expected.put(rank, block_between(call, rank, me));
    from.put(rank, block_between(call, me, rank));
  }
  {
    const InKernel kernel;
    alltoallv(team, from.origin(), from.counts(), from.displs(), output.origin(), output.counts(),
              output.displs(), call.way);
  }
  return output == expected;
}

inline bool reduces_irregularly(Team& team, const Call& call) {
  std::vector<std::int64_t> counts;
  std::size_t total = 0, begin = 0;
  for (int rank = 0; rank < team.size(); ++rank) {
    if (rank == team.rank()) begin = total * kElementBytes;
    counts.push_back(static_cast<std::int64_t>(count_between(call, rank, 0)));
    total += count_between(call, rank, 0);
  }
  const std::size_t mine = count_between(call, team.rank(), 0) * kElementBytes;
  const Bytes input = contribution(call, team.rank(), total * kElementBytes);
  const Bytes result = reduced(call, team.size(), total * kElementBytes);
  const bool in_place = is_in_place(call, team.rank());
  Bytes output = in_place ? input : Bytes(mine, kUntouched);
  output.insert(output.end(), 8, kUntouched);
  Bytes expected = output;
  std::copy_n(result.begin() + static_cast<std::ptrdiff_t>(begin), mine, expected.begin());
  {
    const InKernel kernel;
    reduce_scatter(team, in_place ? output.data() : input.data(), output.data(), counts,
                   reduction_of(call), call.way);
  }
  return output == expected;
}

inline bool runs_irregularly(Team& team, const Call& call) {
  switch (call.what) {
    case What::scatterv: return scatters_irregularly(team, call);
    case What::alltoallv: return exchanges_irregularly(team, call);
    case What::reduce_scatter: return reduces_irregularly(team, call);
    default: return gathers_irregularly(team, call);
  }
}

}  // namespace unisono::node
