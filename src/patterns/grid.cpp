#include "patterns/grid.h"

namespace unisono {

Group Grid::leaders(int column) const {
  const Lattice lattice{column, width_, rows_};
  const int last = first(rows_ - 1) + leader(rows_ - 1, column);
  return {lattice, last == lattice.rank(rows_ - 1) ? -1 : last};
}

}  // namespace unisono
