// Token list: no phases. All ranks make the same list of messages from the counts of all, in the
// order in which they would begin if each rank sent one and received one at a time, and whoever is
// free began what matters most. A receiver asks for a segment of the next message of its list when
// no more than `window` segments are on their way to it with that one: of shorter messages more.
// Rounds: the messages of a rank, d, in n segments with a token each; bytes as the counts say;
// T = d (alpha + n alpha / w) + beta L, where the busiest port has L bytes: 1.00 to 1.03 of L in
// simulation. Any p, any counts; an order of other counts will do (ordered.h). Sources: list
// scheduling of an open shop (Racsmany; Barany, Fiala 1982: at most twice the optimum); the tokens
// as in ring_light_barrier.
#include <algorithm>
#include <vector>

#include "algorithms/algorithms.h"
#include "algorithms/alltoall/ordered.h"
#include "patterns/blocks.h"
#include "patterns/partition.h"

namespace unisono::alltoall {

void token_list(Builder& b) {
  const Args& args = b.args();
  const Count window =
      args.params.window * std::max<Count>(1, args.params.segment / args.unit_bytes);
  const OrderedMessages messages = messages_in_order(b, MessageRule::token_list);
  const auto input_block = staged_input(b);
  b.copy(input_block(b.rank()), b.output_block(b.rank()));
  struct Asked {
    OpId received;
    Count end;  // of all that was asked for up to it, in units
  };
  std::vector<Asked> asked_for;
  std::size_t awaited = 0;  // of these, when more is asked for
  Count total = 0;
  for (const MessageOrder::Step& step : messages.steps) {
    if (step.sends) {
      for (const Slice part : segments(input_block(step.peer), b.args())) {
        const OpId asked = b.recv_token(step.peer);
        b.after(asked);
        b.send(step.peer, part);
      }
      continue;
    }
    for (const Slice part : segments(b.output_block(step.peer), args)) {
      total += part.length;
      while (awaited + 1 < asked_for.size() && total - asked_for[awaited].end > window) ++awaited;
      // A segment of a very long message may be longer than all of them.
      if (total > window && !asked_for.empty()) b.after(asked_for[awaited].received);
      b.send_token(step.peer);
      asked_for.push_back({b.recv(step.peer, part), total});
    }
  }
}

}  // namespace unisono::alltoall
