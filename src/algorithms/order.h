// In which order an algorithm combines what the ranks contribute to an element. The bits of a sum
// of floating-point numbers depend on that order and on nothing else: not on segments, messages or
// ranks, as long as they leave the order alone.
#pragma once
#include <array>
#include <string_view>

namespace unisono {

/// A tree over the contributions, those of the ranks up to the own one in a scan. Operands of a
/// commutative operation may change sides.
enum class Order : unsigned char {
  none,    ///< nothing is combined
  left,    ///< ((0 + 1) + 2) + 3: a fold in rank order
  right,   ///< 0 + (1 + (2 + 3)): a fold from the last rank down
  halves,  ///< a part of the largest power of two below the ranks' number, and the rest; each alike
  folded,  ///< 0 + 1, 2 + 3, ... until what is left is a power of two; then neighbours, level by
           ///< level
  far,     ///< the same pairs first; then each with the one half as many further on
  own,     ///< none of these
};

inline constexpr std::array<std::string_view, 7> kOrderNames = {"",       "left", "right", "halves",
                                                                "folded", "far",  "own"};

/// What else the order depends on, besides the number of ranks.
enum DependsOn : unsigned {
  kOnRoot = 1,     ///< a named order is that of root 0
  kOnPlace = 2,    ///< which element of how many it is
  kOnSegment = 4,  ///< params.segment
  kOnRadix = 8,    ///< params.radix
  kOnTrees = 16,   ///< params.trees
  kOnLate = 32,    ///< params.late: not the same in all runs
  kOnTorus = 64,   ///< where the ranks are on it
  kOnGrid = 128,   ///< params.composition: its shape, and the orders of what it is composed of
};

inline constexpr std::array<std::string_view, 8> kDependsOnNames = {
    "root", "place", "segment", "radix", "trees", "late", "torus", "grid"};  // by bit

/// Of a row of the catalogue.
struct Combining {
  Order order = Order::none;
  unsigned depends_on = 0;  ///< a set of DependsOn
};

}  // namespace unisono
