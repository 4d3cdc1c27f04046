// On a grid of ranks. full (the paper's): the whole vector in every row, then in every column;
// T = T_rows(C, m) + T_columns(R, m). lanes: every row shares its sum out, every column sums its
// share up, the rows collect: 2 (p - 1) / p m bytes for every shape. leaders: rows to their leader,
// the leaders among themselves, rows back; for any p. Rank order is kept where the inner algorithms
// keep it. Sources: Kuehnemann, Rauber, Ruenger (2004); Traeff, Hunold (2020).
#include "algorithms/algorithms.h"
#include "algorithms/grid_phases.h"
#include "patterns/partition.h"

namespace unisono::allreduce {

void grid(Builder& b) {
  const GridPhases phases(b);
  const Slice sum = b.output();
  switch (phases.form()) {
    case Form::full:
      phases.first_in_row().allreduce(b.input(), sum);
      phases.in_column().allreduce(sum, sum);
      break;
    case Form::lanes: {
      const auto shares = phases.shares(sum);
      const Slice own = b.scratch(shares[static_cast<std::size_t>(phases.column())]);
      phases.first_in_row().reduce_scatter(shares, b.input(), own);
      phases.in_column().allreduce(own, own);
      phases.second_in_row().allgather(shares, own, sum);
      break;
    }
    case Form::leaders:
      phases.first_in_row().reduce(0, b.input(), sum);
      if (phases.leads(0)) phases.among_leaders(0).allreduce(sum, sum);
      phases.second_in_row().bcast(0, sum);
      break;
  }
}

}  // namespace unisono::allreduce
