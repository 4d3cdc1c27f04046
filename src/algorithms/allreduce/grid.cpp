// On a grid of ranks. full (the paper's): the whole vector in every row, then in every column;
// T = T_rows(C, m) + T_columns(R, m); surplus ranks of longer rows are told by their strand's
// first. lanes: every row shares its sum out, every column sums its share up, the rows collect: 2
// (p - 1) / p m bytes for every shape; of rows of several lengths the shortest has a share for each
// rank. leaders: rows to their leader, the leaders among themselves, rows back. Any p, any rows;
// rank order is kept where the inner algorithms keep it. Sources: Kuehnemann, Rauber, Ruenger
// (2004); Traeff, Hunold (2020).
#include "algorithms/algorithms.h"
#include "algorithms/grid_phases.h"

namespace unisono::allreduce {

void grid(Builder& b) {
  const GridPhases phases(b);
  const Slice sum = b.output();
  switch (phases.form()) {
    case Form::full:
      phases.first_in_row().allreduce(b.input(), sum);
      if (phases.in_lane()) phases.in_column().allreduce(sum, sum);
      phases.in_strand(Collective::bcast).bcast(0, sum);
      break;
    case Form::lanes: {
      const auto shares = phases.shares(sum);
      const Slice own = b.scratch(shares[static_cast<std::size_t>(phases.column())]);
      phases.first_in_row().reduce_scatter(shares, b.input(), own);
      if (phases.in_lane()) phases.in_column().allreduce(own, own);
      phases.second_in_row().allgather(shares, own, sum);
      break;
    }
    case Form::leaders:
      phases.first_in_row().reduce(0, b.input(), sum);
      if (phases.leads(0)) phases.among_leaders(0).allreduce(sum, sum);
      phases.second_in_row().bcast(0, sum);
      break;
    case Form::split: break;  // of blocks, which a sum is none
  }
}

}  // namespace unisono::allreduce
