// Stored: in the order of a file that was made before the program ran (unisono schedule make). No
// counts are exchanged. Messages and tokens are those of token_list, in phases or without.
// Rounds, bytes and T as token_list; T is what the file's counts promise where they are the call's,
// and any counts are served (ordered.h). Any p; a file for another p is not followed. Source:
// Karwande, Yuan, Lowenthal, CC-MPI (2003), "Level 3".
#include "algorithms/algorithms.h"

namespace unisono::alltoall {

void stored(Builder& b) { token_list(b); }

}  // namespace unisono::alltoall
