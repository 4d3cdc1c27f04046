#include "algorithms/grid_phases.h"

#include <numeric>

#include "patterns/partition.h"

namespace unisono {

namespace {

const Composition& composition_of(const Args& args) {
  return composition_of(args.params, args.collective);
}

}  // namespace

Count sum(std::span<const Count> lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), Count{0});
}

GridPhases::GridPhases(Builder& b)
    : grid(grid_of(composition_of(b.args()), b.args().collective, b.size(), b.args().topology)),
      b_(b),
      composition_(composition_of(b.args())) {}

SubCollective GridPhases::among_leaders(int column) const {
  return {b_, grid.leaders(column), composition_.columns,
          topology_of_columns(composition_, b_.args().topology)};
}

Layout GridPhases::in_grid_order(const Layout& blocks) {
  if (grid.is_in_rank_order()) return blocks;
  std::vector<Count> offsets(blocks.displs.begin(), blocks.displs.end());
  for (Count at = 0; static_cast<int>(offsets.size()) < b_.size();)
    at = offsets.emplace_back(at) + blocks.length(static_cast<int>(offsets.size()) - 1);
  for (int position = 0; position < b_.size(); ++position) {
    const int rank = grid.rank_at(position);
    counts_.push_back(blocks.length(rank));
    displs_.push_back(offsets[static_cast<std::size_t>(rank)]);
  }
  return {0, counts_, displs_};
}

std::vector<Count> GridPhases::lengths_in_row(const Layout& blocks, int row) const {
  std::vector<Count> lengths;
  for (int column = 0; column < grid.length(row); ++column)
    lengths.push_back(blocks.length(grid.rank(row, column)));
  return lengths;
}

std::vector<Count> GridPhases::by_row(const Layout& blocks) const {
  std::vector<Count> lengths;
  for (int row = 0; row < grid.rows(); ++row) lengths.push_back(sum(lengths_in_row(blocks, row)));
  return lengths;
}

Slice GridPhases::row_of(Slice all, const Layout& blocks, int row) const {
  Count before = 0;
  for (int position = 0; position < grid.first(row); ++position)
    before += blocks.length(grid.rank_at(position));
  return all.part(before, sum(lengths_in_row(blocks, row)));
}

std::vector<Count> GridPhases::shares(Slice vector) const {
  std::vector<Count> lengths;
  for (int i = 0; i < grid.width(); ++i)
    lengths.push_back(block_of(vector, i, grid.width()).length);
  return lengths;
}

}  // namespace unisono
