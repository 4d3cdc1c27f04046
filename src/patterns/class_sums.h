// An allreduce in ceil(log3 n) steps on a ring of any size n.
//
// Ranks are put in classes: alike modulo 3^K >= n at first, each with its own vector, then modulo
// 3^(K-1), and so on, until all are one class. In a step the three classes that become one exchange
// their sums: a rank takes the other two from the nearest ranks that have them, on a ring of 3^K
// both 3^(K-1) away, on either side; then 3^(K-2), ..., 1. What is summed up in which order depends
// on the classes alone: all ranks get the same bits.
#pragma once
#include <vector>

#include "patterns/exchange_run.h"
#include "patterns/rank_lattice.h"

namespace unisono {

/// The steps of one rank; the dimensions of a torus take turns.
std::vector<WholeExchange> class_sums(const RankLattice& lattice, int rank, int first_dimension);

}  // namespace unisono
