#include "algorithms/grid_phases.h"

#include <algorithm>
#include <numeric>
#include <utility>

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
    : grid(grid_of(composition_of(b.args()), b.size(), b.args().topology)),
      b_(b),
      composition_(composition_of(b.args())) {}

SubCollective GridPhases::among_leaders(int column) const {
  return {b_, grid.leaders(column), composition_.columns,
          topology_of_columns(composition_, b_.args().topology)};
}

SubCollective GridPhases::in_strand(Collective collective) const {
  RankGroup strand;
  for (int column = lane(); column < grid.length(row()); column += lanes())
    strand.ranks.push_back(grid.rank(row(), column));
  return {b_, std::move(strand), textbook(collective)};
}

Layout GridPhases::in_order(const Layout& blocks, std::span<const int> ranks) {
  std::vector<Count> offsets(blocks.displs.begin(), blocks.displs.end());
  for (Count at = 0; static_cast<int>(offsets.size()) < b_.size();)
    at = offsets.emplace_back(at) + blocks.length(static_cast<int>(offsets.size()) - 1);
  for (const int rank : ranks) {
    counts_.push_back(blocks.length(rank));
    displs_.push_back(offsets[static_cast<std::size_t>(rank)]);
  }
  return {0, counts_, displs_};
}

Layout GridPhases::in_grid_order(const Layout& blocks) {
  if (grid.is_in_rank_order()) return blocks;
  std::vector<int> ranks;
  for (int position = 0; position < b_.size(); ++position) ranks.push_back(grid.rank_at(position));
  return in_order(blocks, ranks);
}

Layout GridPhases::in_lane_order(const Layout& blocks) { return in_order(blocks, lane_order()); }

std::vector<int> GridPhases::lane_order() const {
  std::vector<int> ranks;
  for (int lane = 0; lane < lanes(); ++lane)
    for (int row = 0; row < grid.rows(); ++row)
      for (int column = lane; column < grid.length(row); column += lanes())
        ranks.push_back(grid.rank(row, column));
  return ranks;
}

int GridPhases::position_in_lanes() const {
  const auto order = lane_order();
  return static_cast<int>(std::find(order.begin(), order.end(), b_.rank()) - order.begin());
}

int GridPhases::ranks_in_strand(int row, int lane) const {
  return (grid.length(row) - lane + lanes() - 1) / lanes();
}

int GridPhases::ranks_in_lane(int lane) const {
  int ranks = 0;
  for (int row = 0; row < grid.rows(); ++row) ranks += ranks_in_strand(row, lane);
  return ranks;
}

std::vector<Count> GridPhases::lengths_in_strand(const Layout& blocks, int row, int lane) const {
  std::vector<Count> lengths;
  for (int column = lane; column < grid.length(row); column += lanes())
    lengths.push_back(blocks.length(grid.rank(row, column)));
  return lengths;
}

std::vector<Count> GridPhases::lengths_in_lane(const Layout& blocks, int lane) const {
  std::vector<Count> lengths;
  for (int row = 0; row < grid.rows(); ++row)
    lengths.push_back(sum(lengths_in_strand(blocks, row, lane)));
  return lengths;
}

std::vector<Count> GridPhases::by_lane(const Layout& blocks) const {
  std::vector<Count> lengths(static_cast<std::size_t>(grid.length(row())));
  for (int lane = 0; lane < lanes(); ++lane)
    lengths[static_cast<std::size_t>(lane)] = sum(lengths_in_lane(blocks, lane));
  return lengths;
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
  std::vector<Count> lengths(static_cast<std::size_t>(grid.length(row())));
  for (int lane = 0; lane < lanes(); ++lane)
    lengths[static_cast<std::size_t>(lane)] = block_of(vector, lane, lanes()).length;
  return lengths;
}

}  // namespace unisono
