// Barrier and broadcast.
#include "node/copy.h"
#include "node/kernels.h"
#include "node/pipeline.h"

namespace unisono::node {

// Everybody publishes a step and waits for everybody's: one line from each to each; with a gate, an
// atomic addition each and one wake-up. Source: 7.2 and 7.4 of our notes.
void barrier(Team& team) {
  const Step step = team.take(1);
  team.claim(step);
  team.publish_jointly(step);
  team.await_all(step);
  team.finish(step);
}

// The root copies chunks in, the others copy them out behind it: m / copy bandwidth and a chunk.
// The root of short messages runs ahead of the slowest reader by kCells calls.
void bcast(Team& team, std::byte* data, std::size_t bytes, int root) {
  if (bytes == 0) return;
  const Cut cut{bytes, team.slot_bytes()};
  post(
      team, root, cut,
      [data](Chunk chunk, std::byte* where) { copy_bytes(where, data + chunk.begin, chunk.size); },
      [data](Chunk chunk, const std::byte* where) {
        copy_bytes(data + chunk.begin, where, chunk.size);
      });
}

}  // namespace unisono::node
