#include "algorithms/alltoall/ordered.h"

#include <set>
#include <utility>

#include "algorithms/algorithms.h"
#include "patterns/blocks.h"

namespace unisono::alltoall {

namespace {

MessageOrder own_order(const Args& args, MessageRule rule) {
  if (args.order != nullptr) return *args.order;
  if (args.matrix == nullptr) return ring_order(args.rank, args.size);
  const Count threshold = args.params.threshold / args.unit_bytes;
  return order_of(schedule_messages(rule, *args.matrix, threshold), args.rank);
}

}  // namespace

OrderedMessages messages_in_order(const Builder& b, MessageRule rule) {
  MessageOrder order = own_order(b.args(), rule);
  OrderedMessages result{{}, order.phases};
  std::set<std::pair<int, bool>> listed;
  const auto add = [&](const MessageOrder::Step& step) {
    const Slice block = step.sends ? b.input_block(step.peer) : b.output_block(step.peer);
    if (block.length > 0 && listed.emplace(step.peer, step.sends).second)
      result.steps.push_back(step);
  };
  for (const MessageOrder::Step& step : order.steps) add(step);
  for (MessageOrder::Step& step : ring_order(b.rank(), b.size()).steps) {
    step.phase += order.phases;
    add(step);
  }
  return result;
}

void send_in_phases(Builder& b, MessageRule rule, Between between) {
  const OrderedMessages messages = messages_in_order(b, rule);
  const auto input_block = staged_input(b);
  b.copy(input_block(b.rank()), b.output_block(b.rank()));
  auto first = messages.steps.begin();
  for (int phase = 0; phase < messages.phases || first != messages.steps.end(); ++phase) {
    auto last = first;
    while (last != messages.steps.end() && last->phase == phase) ++last;
    if (between == Between::barriers && phase > 0 && phase < messages.phases) {
      b.end_round();
      barrier::dissemination(b);
    }
    if (first == last) continue;
    b.end_round();
    // All tokens before all messages: two ranks may send to each other in a phase.
    std::vector<OpId> asked;
    if (between == Between::light_barriers)
      for (auto step = first; step != last; ++step) {
        const OpId token = step->sends ? b.recv_token(step->peer) : b.send_token(step->peer);
        asked.push_back(step->sends ? token : kNoOp);
      }
    for (auto step = first; step != last; ++step)
      if (!step->sends) b.recv(step->peer, b.output_block(step->peer));
    for (auto step = first; step != last; ++step) {
      if (!step->sends) continue;
      if (!asked.empty()) b.after(asked[static_cast<std::size_t>(step - first)]);
      b.send(step->peer, input_block(step->peer));
    }
    first = last;
  }
}

}  // namespace unisono::alltoall
