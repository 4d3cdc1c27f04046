// In which order the messages of an alltoallv are sent: for all ranks together, and as one of them
// sees it. An order holds pairs of ranks and no lengths, so that it can be followed in calls of
// other counts than those it was made from (algorithms/alltoall/ordered.h).
#pragma once
#include <cstdint>
#include <vector>

#include "schedule/count_matrix.h"

namespace unisono {

/// Messages between different ranks, one for each pair at most. Equal on all ranks.
struct MessageList {
  struct Message {
    int from = 0, to = 0;
    int phase = 0;
    bool operator==(const Message&) const = default;
  };
  int size = 0;                   ///< ranks
  int phases = 0;                 ///< 0: there are none, and messages start as their ranks are free
  std::vector<Message> messages;  ///< phase by phase
  bool operator==(const MessageList&) const = default;
};

/// What one rank needs of a list: its own messages. The order of all of them counts, not only that
/// of its sends and that of its receives: two ranks that send to each other must see their messages
/// and tokens in the same order.
struct MessageOrder {
  struct Step {
    std::int32_t peer = 0;
    std::int32_t phase = 0;
    bool sends = false;
    bool operator==(const Step&) const = default;
  };
  int phases = 0;
  std::vector<Step> steps;
};

MessageOrder order_of(const MessageList& list, int rank);
/// Of all ranks.
std::vector<MessageOrder> orders_of(const MessageList& list);

/// The messages of an alltoall of equal blocks: phase i has those from r to r + i + 1.
MessageOrder ring_order(int rank, int size);

/// Units that the busiest port sends or receives: no order takes less.
Count busiest_port(const CountMatrix& matrix);

/// When messages of these lengths are sent in such an order, if a unit takes one of time: each
/// begins when its sender and its receiver are through with what they had before, and, where there
/// are phases, all with the phase before; two that meet at a port in a phase come one after the
/// other there. What the list does not hold follows, as in algorithms/alltoall/ordered.h, as one
/// phase more. O(entries log entries).
struct TimedMessage {
  int from = 0, to = 0, phase = 0;
  Count begin = 0, end = 0;
};
std::vector<TimedMessage> timeline(const MessageList& list, const CountMatrix& matrix);
/// When the last of them is through.
Count makespan(const MessageList& list, const CountMatrix& matrix);

}  // namespace unisono
