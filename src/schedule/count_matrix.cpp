#include "schedule/count_matrix.h"

#include <algorithm>
#include <cassert>

namespace unisono {

CountMatrix::CountMatrix(std::span<const Count> dense, int size) {
  const auto p = static_cast<std::size_t>(size);
  assert(dense.size() == p * p);
  for (std::size_t i = 0; i < p; ++i) add_dense_row(dense.subspan(i * p, p));
}

void CountMatrix::add_row(std::span<const Entry> row) {
  for (const Entry& entry : row) {
    assert(entries_.size() == first_.back() || entries_.back().to < entry.to);
    if (entry.count > 0) entries_.push_back(entry);
  }
  first_.push_back(entries_.size());
}

void CountMatrix::add_dense_row(std::span<const Count> counts) {
  for (std::size_t to = 0; to < counts.size(); ++to)
    if (counts[to] > 0) entries_.push_back({static_cast<int>(to), counts[to]});
  first_.push_back(entries_.size());
}

std::size_t CountMatrix::position(int from, int to) const {
  const std::span<const Entry> entries = row(from);
  const auto found = std::lower_bound(entries.begin(), entries.end(), to,
                                      [](const Entry& e, int rank) { return e.to < rank; });
  if (found == entries.end() || found->to != to) return entries_.size();
  return first_[static_cast<std::size_t>(from)] + static_cast<std::size_t>(found - entries.begin());
}

Count CountMatrix::at(int from, int to) const {
  const std::size_t found = position(from, to);
  return found < entries_.size() ? entries_[found].count : 0;
}

}  // namespace unisono
