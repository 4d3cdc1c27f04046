// On a grid of ranks. full (the paper's): the whole vector in every row, then in every column;
// T = T_rows(C, m) + T_columns(R, m). lanes: every row shares its sum out, every column sums its
// share up, the rows collect: 2 (p - 1) / p m bytes for every shape. leaders: rows to their leader,
// the leaders among themselves, rows back; for any p. Rank order is kept where the inner algorithms
// keep it. Sources: Kuehnemann, Rauber, Ruenger (2004); Traeff, Hunold (2020).
#include "algorithms/algorithms.h"
#include "algorithms/grid_parts.h"
#include "patterns/partition.h"

namespace unisono::allreduce {

void grid(Builder& b) {
  const GridParts parts(b);
  const Slice sum = b.output();
  switch (parts.form()) {
    case Form::full:
      parts.first_in_row().allreduce(b.input(), sum);
      parts.in_column().allreduce(sum, sum);
      break;
    case Form::lanes: {
      const auto shares = parts.shares(sum);
      const Slice own = b.scratch(shares[static_cast<std::size_t>(parts.column())]);
      parts.first_in_row().reduce_scatter(shares, b.input(), own);
      parts.in_column().allreduce(own, own);
      parts.second_in_row().allgather(shares, own, sum);
      break;
    }
    case Form::leaders:
      parts.first_in_row().reduce(0, b.input(), sum);
      if (parts.leads(0)) parts.among_leaders(0).allreduce(sum, sum);
      parts.second_in_row().bcast(0, sum);
      break;
  }
}

}  // namespace unisono::allreduce
