#include "algorithms/grid_parts.h"

#include <numeric>

#include "patterns/partition.h"

namespace unisono {

namespace {

Grid grid_of(const Args& args) {
  const Composition& composition = composition_of(args.params, args.collective);
  const FormRow& form = *find_form(args.collective, composition.form);
  return {args.size, width_of(composition, form, args.size)};
}

}  // namespace

Count sum(std::span<const Count> lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), Count{0});
}

GridParts::GridParts(Builder& b)
    : grid(grid_of(b.args())),
      b_(b),
      composition_(composition_of(b.args().params, b.args().collective)) {}

std::vector<Count> GridParts::in_row(const Layout& blocks, int row) const {
  std::vector<Count> lengths;
  for (int i = 0; i < grid.length(row); ++i) lengths.push_back(blocks.length(grid.first(row) + i));
  return lengths;
}

std::vector<Count> GridParts::by_row(const Layout& blocks) const {
  std::vector<Count> lengths;
  for (int row = 0; row < grid.rows(); ++row)
    lengths.push_back(blocks.total(grid.first(row), grid.first(row) + grid.length(row)));
  return lengths;
}

Slice GridParts::row_of(Slice all, const Layout& blocks, int row) const {
  const int first = grid.first(row);
  return all.part(blocks.total(0, first), blocks.total(first, first + grid.length(row)));
}

std::vector<Count> GridParts::shares(Slice vector) const {
  std::vector<Count> lengths;
  for (int i = 0; i < grid.width(); ++i)
    lengths.push_back(block_of(vector, i, grid.width()).length);
  return lengths;
}

}  // namespace unisono
