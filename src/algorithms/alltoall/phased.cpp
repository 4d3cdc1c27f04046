// In phases that are made from the counts of all ranks, so that in each a rank sends one message
// and receives one at most, and messages of a phase are about as long (greedy), belong to as few
// phases as an alltoall has (all_to_all_based), or to the fewest that there can be
// (edge_colouring). Less than `threshold` bytes each, the last ones go together. Rounds: the
// phases, d to 2 d - 1 where a rank sends or receives d messages; bytes as the counts say; T = sum
// over phases of (alpha + beta x its longest message). With barriers q alpha more between any two:
// no port has two messages then, at the price of all waiting for the last of each. With light
// barriers a rank sends when its receiver has asked for it, being through with the phase before.
// With none nothing but a rank's own messages keeps it in step. Any p, any counts; an order of
// other counts will do (ordered.h). Source: Karwande, Yuan, Lowenthal, CC-MPI (2003), section 4.2;
// its alltoall is all_to_all_based_barriers. Colouring: Koenig (1916); light barriers: Faraj,
// Patarasuk, Yuan (2008).
#include "algorithms/algorithms.h"
#include "algorithms/alltoall/ordered.h"

namespace unisono::alltoall {

void greedy(Builder& b) { send_in_phases(b, MessageRule::greedy, Between::nothing); }
void greedy_light_barriers(Builder& b) {
  send_in_phases(b, MessageRule::greedy, Between::light_barriers);
}
void greedy_barriers(Builder& b) { send_in_phases(b, MessageRule::greedy, Between::barriers); }

void all_to_all_based(Builder& b) {
  send_in_phases(b, MessageRule::all_to_all_based, Between::nothing);
}
void all_to_all_based_light_barriers(Builder& b) {
  send_in_phases(b, MessageRule::all_to_all_based, Between::light_barriers);
}
void all_to_all_based_barriers(Builder& b) {
  send_in_phases(b, MessageRule::all_to_all_based, Between::barriers);
}

void edge_colouring(Builder& b) {
  send_in_phases(b, MessageRule::edge_colouring, Between::nothing);
}
void edge_colouring_light_barriers(Builder& b) {
  send_in_phases(b, MessageRule::edge_colouring, Between::light_barriers);
}
void edge_colouring_barriers(Builder& b) {
  send_in_phases(b, MessageRule::edge_colouring, Between::barriers);
}

}  // namespace unisono::alltoall
