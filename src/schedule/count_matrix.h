// What every rank sends to every other one, in memory and time as what is sent, not as p squared.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/schedule.h"

namespace unisono {

/// Row i holds what rank i sends to others or itself, without what is empty.
class CountMatrix {
 public:
  struct Entry {
    int to = 0;
    Count count = 0;
    bool operator==(const Entry&) const = default;
  };

  CountMatrix() = default;
  /// From p * p counts by rows.
  CountMatrix(std::span<const Count> dense, int size);

  /// The next row, of entries in the order of their receivers; those of nothing are left out.
  void add_row(std::span<const Entry> row);
  /// The same from p counts.
  void add_dense_row(std::span<const Count> counts);

  int size() const { return static_cast<int>(first_.size()) - 1; }
  std::size_t entries() const { return entries_.size(); }
  std::span<const Entry> row(int from) const {
    const auto i = static_cast<std::size_t>(from);
    return std::span(entries_).subspan(first_[i], first_[i + 1] - first_[i]);
  }
  /// 0 for what it does not hold. O(log) of the row's entries.
  Count at(int from, int to) const;
  /// Which of the entries that is, counted by rows; entries(): it is none.
  std::size_t position(int from, int to) const;
  bool operator==(const CountMatrix&) const = default;

 private:
  std::vector<std::size_t> first_{0};  // size() + 1
  std::vector<Entry> entries_;
};

}  // namespace unisono
