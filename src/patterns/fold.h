// A power of two, or another handy number, out of any number of ranks.
#pragma once

namespace unisono {

/// Of the first 2 (p - power) ranks every odd one hands its data to its left neighbour, so that
/// `power` ranks work, each for an interval of ranks: position v for [rank(v), rank(v + 1)). Rank
/// order is kept.
struct Fold {
  explicit Fold(int size) {
    while (power <= size / 2) power *= 2;
    extra = size - power;
  }
  /// So many work, of fewer than twice as many.
  Fold(int size, int working) : power(working), extra(size - working) {}

  int power = 1;  ///< ranks that work: the largest power of two <= size
  int extra = 0;

  /// -1 for a rank that its left neighbour works for.
  int position(int rank) const {
    if (rank >= 2 * extra) return rank - extra;
    return rank % 2 == 0 ? rank / 2 : -1;
  }
  int rank(int position) const { return position < extra ? 2 * position : position + extra; }
  bool works_for_two(int position) const { return position >= 0 && position < extra; }
};

}  // namespace unisono
