// What messages between the hosts of a job cost, measured on request in some milliseconds: the
// machine of the cost model.
#pragma once
#include <mpi.h>

#include "model/machine.h"

namespace unisono {

/// Measured between rank 0 and the first ranks of up to three other nodes, in exchanges of all
/// nodes at once, and between two ranks of one node where a node has two. At most 60 ms from 20
/// Mb/s on, of which a stream from rank 0 to its neighbour takes half. Not measured is how much a
/// port holds before it loses: kCheapSwitch is assumed.
///
/// Collective over `world`; `node`: the ranks of this one's node. The same result on all ranks, to
/// the bit. A level that has no two ranks, or whose stream was too uneven to tell, is missing.
/// `all_alone`: every node has one rank.
Machine probe_network(MPI_Comm world, MPI_Comm node, bool all_alone = false);

}  // namespace unisono
