// Swing: in each round what a rank has doubles, on a ring from ranks at the distances ..., 11, 5,
// 3, 1, 1, on a torus with the dimensions in turn. 2k such allgathers, beginning with each of k
// dimensions and mirrored, go on at once with a 2k-th of every block, and so use all links.
// Rounds q, bytes (p - 1) b; T = q alpha + c (p - 1) beta b / 2k (c: see allreduce/swing.cpp), and
// two copies of the result. A dimension that is no power of two: 2 rounds, p b more, for folding
// neighbours. Any p.
// Source: De Sensi et al., Swing (2024); the order of the blocks is own.
#include "algorithms/algorithms.h"
#include "algorithms/lattice_of_ranks.h"
#include "patterns/butterfly_collectives.h"

namespace unisono::allgather {

void swing(Builder& b) {
  const RankLattice lattice = lattice_of_ranks(b.args());
  parts_allgather(b, on_all_links(lattice, RingForm::swing));
}

}  // namespace unisono::allgather
