// Scan and exscan.
#include <algorithm>
#include <cstddef>

#include "node/direct.h"
#include "node/kernels.h"
#include "node/pipeline.h"
#include "node/rule.h"

namespace unisono::node {

namespace {

// Every rank reduces for itself what the ranks before it have posted. Own input is among the
// posted. No joint steps: who is ahead waits for nobody behind it, and where ranks sleep a gate
// would make a barrier of each call.
void read_before(Team& team, const std::byte* input, std::byte* output, std::size_t bytes,
                 const Reduction& reduction, int ranks) {
  const int me = team.rank();
  // As in allreduce: unless output is on top of it.
  const int mine = input == output ? -1 : me;
  const Cut cut{bytes, reduction.whole(team.slot_bytes())};
  const std::size_t chunks = cut.chunks();
  const Step first = team.take(chunks);
  for (std::size_t i = 0; i < chunks; ++i) {
    const Step step = first + i;
    const Chunk chunk = cut.chunk(i);
    const SlotUse use = cut.is_inline() ? SlotUse{} : team.take_slot(chunk.size, step);
    const Posted posted = cut.is_inline() ? Posted(team, step) : Posted(team, step, use);
    team.claim(step);
    team.claim_slot(use);
    team.put(posted.of(me), input + chunk.begin, chunk.size);
    team.settle();
    team.publish(step);
    // The one before is often the last to come, and the others need no waiting then.
    if (me > 0) team.await(me - 1, step);
    if (ranks > 0)
      fold_left(reduction, output + chunk.begin, reduction.elements(chunk.size), ranks,
                [&](int rank) {
                  if (rank == mine) return input + chunk.begin;
                  if (rank != me) team.await(rank, step);
                  return static_cast<const std::byte*>(posted.of(rank));
                });
    team.finish(step);
  }
}

// The linear pipeline: a rank takes its predecessor's result, adds its own and posts that. Each
// chunk is p steps away from the last rank, and each rank combines once: (p - 1 + m/s) chunk times.
// The last one posts nothing. Source: Worringer 2003.
void scan_chain(Team& team, const std::byte* input, std::byte* output, std::size_t bytes,
                const Reduction& reduction, bool inclusive) {
  const int me = team.rank();
  const bool posts = me < team.size() - 1;
  // In place, output is the right operand.
  const bool into_output = inclusive && !posts && input != output;
  const bool into_slot = posts || (inclusive && !into_output);
  const Cut cut{bytes, reduction.whole(team.slot_bytes())};
  const std::size_t chunks = cut.chunks();
  const Step first = team.take(chunks);
  for (std::size_t i = 0; i < chunks; ++i) {
    const Step step = first + i;
    const auto [begin, size] = cut.chunk(i);
    const SlotUse use = team.take_slot(size, step);
    if (posts) team.claim(step);
    if (into_slot) team.claim_slot(use);
    std::byte* result = into_output ? output + begin : team.slot(me, use.offset);
    const std::byte* before = nullptr;
    if (me == 0) {
      if (into_slot) team.put(result, input + begin, size);
    } else {
      team.await(me - 1, step);
      before = team.slot(me - 1, use.offset);
      if (into_slot || into_output)
        reduction.combine(reduction.context, before, input + begin, result,
                          reduction.elements(size));
    }
    team.settle();
    if (posts) team.publish(step);
    // Last: in place, output is input.
    if (inclusive) copy_bytes(output + begin, me == 0 ? input + begin : result, size);
    if (!inclusive && me > 0) copy_bytes(output + begin, before, size);
    team.finish(step);
  }
}

/// What `piece` of a slice comes to on each rank: read from one rank after the other, and written
/// to it as far as it has come together. False: not all of it.
template <class Shown>
bool scan_piece_directly(Team& team, const Shown& shown, Chunk piece, const Reduction& reduction,
                         bool inclusive) {
  const int readers = team.size() - (inclusive ? 0 : 1);
  std::byte *so_far = team.scratch(0), *operand = team.scratch(1);
  const auto give = [&](int rank) {
    return push(team, rank, shown(rank), piece.begin, so_far, piece.size);
  };
  for (int rank = 0; rank < team.size(); ++rank) {
    std::byte* into = rank == 0 ? so_far : operand;
    if (rank < readers && !pull(team, rank, into, shown(rank).input + piece.begin, piece.size))
      return false;
    if (!inclusive && rank > 0 && !give(rank)) return false;
    if (rank < readers && rank > 0)
      reduction.combine(reduction.context, so_far, operand, so_far, reduction.elements(piece.size));
    if (inclusive && !give(rank)) return false;
  }
  return true;
}

// Every rank takes a slice of the whole: 2 m moved per rank and no rank waits for another, where
// the chain moves it once into a slot and once out of it. Not in place, so that nothing is lost
// when a copy fails.
bool scan_directly(Team& team, const std::byte* input, std::byte* output, std::size_t bytes,
                   const Reduction& reduction, bool inclusive) {
  const int me = team.rank();
  const Chunk mine = slice(bytes, reduction.element_bytes, me, me + 1, team.size());
  const std::size_t most = reduction.whole(team.scratch_bytes());
  return copy_directly(team, {input, output, input != output, bytes}, [&](const auto& shown) {
    for (std::size_t done = 0; done < mine.size; done += most)
      if (!scan_piece_directly(team, shown, {mine.begin + done, std::min(most, mine.size - done)},
                               reduction, inclusive))
        return false;
    return true;
  });
}

}  // namespace

namespace {

void scan_to(Team& team, const std::byte* input, std::byte* output, std::size_t bytes,
             const Reduction& reduction, bool inclusive, Protocol way) {
  const auto rule = [&](bool direct) { return scan_rule(team, bytes, direct); };
  way = chosen(team, way, rule);
  if (way == Protocol::direct) {
    if (scan_directly(team, input, output, bytes, reduction, inclusive)) return;
    way = rule(false);
  }
  if (way == Protocol::read_all)
    return read_before(team, input, output, bytes, reduction, team.rank() + (inclusive ? 1 : 0));
  scan_chain(team, input, output, bytes, reduction, inclusive);
}

}  // namespace

void scan(Team& team, const std::byte* input, std::byte* output, std::size_t count,
          const Reduction& reduction, Protocol way) {
  const std::size_t bytes = count * reduction.element_bytes;
  if (bytes > 0) scan_to(team, input, output, bytes, reduction, true, way);
}

void exscan(Team& team, const std::byte* input, std::byte* output, std::size_t count,
            const Reduction& reduction, Protocol way) {
  const std::size_t bytes = count * reduction.element_bytes;
  if (bytes == 0) return;
  // Nothing is combined. A root's data is only read.
  if (team.size() == 2 && way == Protocol::rule)
    return bcast(team, team.rank() == 0 ? const_cast<std::byte*>(input) : output, bytes, 0);
  scan_to(team, input, output, bytes, reduction, false, way);
}

}  // namespace unisono::node
