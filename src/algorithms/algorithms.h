// Declarations of all algorithms, a namespace per collective. The catalogue is the list of them.
#pragma once
#include "schedule/builder.h"

namespace unisono {

namespace bcast {
void flat(Builder& b);
void binomial(Builder& b);
void knomial(Builder& b);
void chain(Builder& b);
void scatter_allgather(Builder& b);
void circulant(Builder& b);
void announced(Builder& b);
void arrival_chain(Builder& b);
void sorted(Builder& b);
void grid(Builder& b);
}  // namespace bcast

namespace reduce {
void flat(Builder& b);
void binomial(Builder& b);
void knomial(Builder& b);
void chain(Builder& b);
void reduce_scatter_gather(Builder& b);
void circulant(Builder& b);
void sorted(Builder& b);
void slices(Builder& b);
void grid(Builder& b);
}  // namespace reduce

namespace allreduce {
void recursive_doubling(Builder& b);
void rabenseifner(Builder& b);
void ring(Builder& b);
void circulant(Builder& b);
void reduce_bcast(Builder& b);
void sorted(Builder& b);
void pre_reduced_ring(Builder& b);
void straggler(Builder& b);
void slices(Builder& b);
void grid(Builder& b);
}  // namespace allreduce

namespace reduce_scatter {
void ring(Builder& b);
void recursive_halving(Builder& b);
void pairwise(Builder& b);
void circulant(Builder& b);
void direct(Builder& b);
void grid(Builder& b);
}  // namespace reduce_scatter

namespace barrier {
void dissemination(Builder& b);
void tree(Builder& b);
void direct(Builder& b);
void grid(Builder& b);
}  // namespace barrier

namespace gather {
void flat(Builder& b);
void paced(Builder& b);
void binomial(Builder& b);
void knomial(Builder& b);
void grid(Builder& b);
}  // namespace gather

namespace scatter {
void flat(Builder& b);
void paced(Builder& b);
void binomial(Builder& b);
void knomial(Builder& b);
void grid(Builder& b);
}  // namespace scatter

namespace allgather {
void ring(Builder& b);
void recursive_doubling(Builder& b);
void bruck(Builder& b);
void circulant(Builder& b);
void neighbour_exchange(Builder& b);
void gather_bcast(Builder& b);
void straggler(Builder& b);
void direct(Builder& b);
void grid(Builder& b);
}  // namespace allgather

namespace alltoall {
void simple(Builder& b);
void spread_out(Builder& b);
void ring(Builder& b);
void pair(Builder& b);
void ring_barrier(Builder& b);
void pair_barrier(Builder& b);
void ring_light_barrier(Builder& b);
void pair_light_barrier(Builder& b);
void bruck(Builder& b);
void grid(Builder& b);
}  // namespace alltoall

namespace scan {  // and exscan
void linear(Builder& b);
void recursive_doubling(Builder& b);
void chain(Builder& b);
void grid(Builder& b);
}  // namespace scan

}  // namespace unisono
