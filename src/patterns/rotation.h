// The ranks counted from the root on.
#pragma once

namespace unisono {

/// Trees, rings and circulant graphs are drawn with the root at position 0: position v is rank
/// (v + root) mod p. Positions may be given beyond the ends by less than p; they wrap around.
struct Rotation {
  int size;
  int root = 0;

  int position(int rank) const { return wrap(rank - root); }
  int rank(int position) const { return wrap(wrap(position) + root); }
  int wrap(int i) const { return i >= size ? i - size : i < 0 ? i + size : i; }
};

}  // namespace unisono
