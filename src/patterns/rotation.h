// The ranks counted from the root on.
#pragma once
#include <span>

namespace unisono {

/// Trees, rings and circulant graphs are drawn with the root at position 0: position v is rank
/// (v + root) mod p. Positions may be given beyond the ends by less than p; they wrap around.
///
/// Some ranks may be left out: the others are counted as if these did not exist, `size` without
/// them and `root` too. The list must live as long.
struct Rotation {
  int size;
  int root = 0;
  std::span<const int> left_out;  ///< ascending

  /// In which the root stands at position `top`.
  static Rotation around(int size, int root, int top) {
    return {size, root < top ? root - top + size : root - top, {}};
  }

  /// Of a rank that is not left out.
  int position(int rank) const {
    int among_others = rank;
    for (const int out : left_out) among_others -= out < rank ? 1 : 0;
    return wrap(among_others - root);
  }
  int rank(int position) const {
    int rank = wrap(wrap(position) + root);
    for (const int out : left_out) rank += out <= rank ? 1 : 0;
    return rank;
  }
  int wrap(int i) const { return i >= size ? i - size : i < 0 ? i + size : i; }
};

}  // namespace unisono
