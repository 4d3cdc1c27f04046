// From counts to an order of messages: the rules of CC-MPI and two others. Every rank makes the
// same order from the same matrix. A port is a rank's sending or its receiving side; both work at
// the same time. What a rank sends to itself is no message.
#pragma once
#include <optional>
#include <string_view>

#include "patterns/message_order.h"

namespace unisono {

enum class MessageRule {
  /// Phases of messages of similar length: the longest first, each into the first phase where its
  /// ports are free. At most 2 d - 1 phases, where a port has at most d messages. O(m d / 64 +
  /// m log m). Karwande, Yuan, Lowenthal (2003).
  greedy,
  /// The same with the phases of an alltoall: each begins with all messages that go as far around
  /// as the longest one left. At most p - 1 phases, and 2 d - 1. O(m d). The same paper, figure 4.
  all_to_all_based,
  /// The fewest phases that there can be, d: the edges of a bipartite graph have d colours. In a
  /// phase messages of different lengths wait for each other. Koenig (1916).
  edge_colouring,
  /// No phases: whenever ports are free, of the messages between free ones that begins whose row
  /// and column have most left (list scheduling of an open shop). Takes at most twice what the
  /// busiest port needs, and measured 1.00 to 1.03 times. O(m d log d).
  token_list,
};

/// `threshold`: as soon as all that is left is shorter, it makes up one phase, in which a port may
/// have several messages (the first two rules).
MessageList schedule_messages(MessageRule rule, const CountMatrix& matrix, Count threshold = 0);

std::string_view name(MessageRule rule);
std::optional<MessageRule> message_rule_named(std::string_view name);

}  // namespace unisono
