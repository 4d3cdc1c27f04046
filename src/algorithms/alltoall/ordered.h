// Messages of an alltoallv in an order that all ranks know. The order holds pairs of ranks and may
// have been made from other counts than the call's: remembered from an earlier call, or stored. How
// long a message is its sender and its receiver know from their own arguments, in which MPI demands
// that they agree. So there is one list of the call's messages, the same for all ranks although
// none sees all of it: those of the order, without the ones that are empty now, and then all
// others, by how far they go around, those of one distance by their senders. Each rank writes its
// part of it.
//
// No order can deadlock, without any buffering. Every send, receive and token belongs to a message
// of the list, or to a barrier between two phases of it, and waits only for what the same rank
// wrote for earlier ones, or for the token of its own message, which again waits for earlier ones
// only. So of what is not complete the earliest can always go on: both its ranks are through with
// all before it. And what two ranks send each other they see in the same order, that of the list,
// so that the n-th message of one is the n-th of the other.
#pragma once
#include <vector>

#include "patterns/message_order.h"
#include "patterns/message_scheduling.h"
#include "schedule/builder.h"

namespace unisono::alltoall {

/// This rank's messages that are not empty. Those that the order does not hold have phases of their
/// own, from `phases` on.
struct OrderedMessages {
  std::vector<MessageOrder::Step> steps;
  int phases = 0;  ///< of the order: as many on all ranks
};

/// By the order that the arguments name, else by the rule and the call's matrix, else a ring.
OrderedMessages messages_in_order(const Builder& b, MessageRule rule);

/// What ranks wait for between two phases, besides their own messages.
enum class Between { nothing, light_barriers, barriers };

/// Phase by phase: a rank begins the next when it is through with its messages of the last.
void send_in_phases(Builder& b, MessageRule rule, Between between);

}  // namespace unisono::alltoall
