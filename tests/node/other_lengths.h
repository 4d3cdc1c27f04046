// Calls in which a rank has more or less for another than that one expects.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>

#include "tests/node/irregular_calls.h"

namespace unisono::node {

/// What `to` has room for, of what count_between() says that `from` sends.
inline std::size_t expected_between(const Call& call, int from, int to) {
  const std::size_t sent = count_between(call, from, to);
  const auto draw = random_word(call.seed, static_cast<std::uint64_t>(1 << 22 | (64 * from + to)));
  switch (draw % 5) {
    case 0: return sent + draw / 5 % 80;
    case 1: return sent / 2;
    case 2: return sent - std::min<std::size_t>(sent, 1);
    default: return sent;
  }
}

/// Empty, or what is wrong. `truncated`: whether this rank was told so.
inline std::string run_with_other_lengths(Team& team, const Call& call, bool& truncated) {
  const int me = team.rank(), size = team.size();
  const bool sends = call.what != What::scatterv || me == call.root;
  const bool receives = call.what != What::gatherv || me == call.root;
  const auto between = [&](auto count, int from, int to) {
    if (call.what == What::gatherv) to = 0;
    if (call.what == What::scatterv) from = 0;
    return count(call, from, to);
  };
  const auto sent = [&](int to) { return between(count_between, me, to); };
  const auto room = [&](int from) { return between(expected_between, from, me); };
  Blocks input(size, sent), output(size, room);
  const Blocks before = output;
  for (int rank = 0; rank < size; ++rank)
    input.put(rank, contribution(call, 8 * me + rank, sent(rank)));
  truncated = false;
  try {
    const InKernel kernel;
    if (call.what == What::alltoallv)
      alltoallv(team, input.origin(), input.counts(), input.displs(), output.origin(),
                output.counts(), output.displs(), call.way);
    else if (call.what == What::gatherv)
      gatherv(team, input.block(call.root), sent(call.root), receives ? output.origin() : nullptr,
              receives ? output.counts() : PerRank(), receives ? output.displs() : PerRank(),
              call.root, call.way);
    else
      scatterv(team, sends ? input.origin() : nullptr, sends ? input.counts() : PerRank(),
               sends ? input.displs() : PerRank(), output.block(call.root), room(call.root),
               call.root, call.way);
  } catch (const Truncated&) {
    truncated = true;
  }
  bool expected = false;
  Blocks right = before;
  for (int from = 0; receives && from < size; ++from) {
    if (call.what == What::scatterv && from != call.root) continue;
    const std::size_t came = between(count_between, from, me), most = room(from);
    expected |= came > most && (most > 0 || from == me || call.what == What::scatterv);
    Bytes block = contribution(call, 8 * from + me, came);
    if (came > most)  // what there is of it is not said
      block.assign(output.block(from), output.block(from) + most);
    right.put(from, block);
  }
  if (truncated != expected) return text(call, team) + (truncated ? ": told" : ": not told");
  return output == right ? "" : text(call, team) + ": wrong bytes";
}

}  // namespace unisono::node
