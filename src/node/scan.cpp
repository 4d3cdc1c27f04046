// Scan and exscan.
#include <cstddef>

#include "node/kernels.h"
#include "node/pipeline.h"

namespace unisono::node {

namespace {

// Every rank reduces for itself what the ranks before it have posted. Own input is among the
// posted.
void read_before(Team& team, const std::byte* input, std::byte* output, std::size_t bytes,
                 const Reduction& reduction, int ranks) {
  exchange(
      team, Cut{bytes, bytes}, [&](Chunk, std::byte* where) { copy_bytes(where, input, bytes); },
      [&](Chunk, const auto& posted) {
        if (ranks > 0)
          fold(reduction, output, bytes / reduction.element_bytes, ranks,
               [&](int rank) { return posted.await(rank); });
      });
}

// The linear pipeline: a rank takes its predecessor's result, adds its own and posts that. Each
// chunk is p steps away from the last rank, and each rank combines once: (p - 1 + m/s) chunk times.
// Source: Worringer 2003 (1.1 of our notes).
void scan_chain(Team& team, const std::byte* input, std::byte* output, std::size_t bytes,
                const Reduction& reduction, bool inclusive) {
  const int me = team.rank();
  const Cut cut{bytes, reduction.whole(team.slot_bytes())};
  const std::size_t chunks = cut.chunks();
  const Step first = team.take(chunks);
  for (std::size_t i = 0; i < chunks; ++i) {
    const Step step = first + i;
    const auto [begin, size] = cut.chunk(i);
    const SlotUse use = team.take_slot(step);
    team.claim(step);
    team.claim_slot(use);
    std::byte* result = team.slot(me, use.index);
    const std::byte* before = nullptr;
    if (me == 0) {
      copy_bytes(result, input + begin, size);
    } else {
      team.await(me - 1, step);
      before = team.slot(me - 1, use.index);
      reduction.combine(reduction.context, before, input + begin, result,
                        size / reduction.element_bytes);
    }
    team.publish(step);
    // Last: in place, output is input.
    if (inclusive) copy_bytes(output + begin, result, size);
    if (!inclusive && me > 0) copy_bytes(output + begin, before, size);
    team.finish(step);
  }
}

}  // namespace

void scan(Team& team, const std::byte* input, std::byte* output, std::size_t count,
          const Reduction& reduction) {
  const std::size_t bytes = count * reduction.element_bytes;
  if (bytes == 0) return;
  if (bytes <= kInline) return read_before(team, input, output, bytes, reduction, team.rank() + 1);
  scan_chain(team, input, output, bytes, reduction, true);
}

void exscan(Team& team, const std::byte* input, std::byte* output, std::size_t count,
            const Reduction& reduction) {
  const std::size_t bytes = count * reduction.element_bytes;
  if (bytes == 0) return;
  if (bytes <= kInline) return read_before(team, input, output, bytes, reduction, team.rank());
  scan_chain(team, input, output, bytes, reduction, false);
}

}  // namespace unisono::node
