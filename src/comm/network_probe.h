// What this job's messages cost, measured in some milliseconds: the machine of the cost model.
#pragma once
#include <mpi.h>

#include "model/machine.h"
#include "select/online/memory.h"

namespace unisono {

/// Measured between rank 0 and the first ranks of up to three other nodes, in exchanges of all
/// nodes at once, and between two ranks of one node where a node has two. About 50 ms at most:
/// longer messages are left out where shorter ones take long (at 100 Mb/s it takes 30 ms, at 1 Gb/s
/// 15). A message that meets what nobody else's would makes the machine slower than it is; the
/// fastest of a few counts. Not measured is how much a port holds before it loses: kCheapSwitch is
/// assumed.
///
/// Collective over `world`; `node`: the ranks of this one's node. The same result on all ranks, to
/// the bit. A level that has no two ranks is missing.
/// `all_alone`: every node has one rank.
Machine probe_network(MPI_Comm world, MPI_Comm node, bool all_alone = false);

/// On ranks 0 and `other` of `world`, which are on two nodes; zeros on all others. Some
/// milliseconds at most, however slow the network is, unless one message takes longer: a stream
/// ends before that. To be the first that the two send each other but little, as in MPI_Init: then
/// what a shaper lets through at once is in all jobs' times alike.
Greeting greet(MPI_Comm world, int other);

}  // namespace unisono
