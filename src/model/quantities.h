// What a samples file holds times of: unisono-calibrate writes it, the model is fitted from it.
#pragma once
#include <array>

namespace unisono {

enum class Quantity {
  one_way,
  gap,
  exchange,
  reduce,
  copy,
  // Of the memory of a node (MemoryTimes).
  stores_one_way,
  stores_gap,
  single_copy_one_way,
  single_copy_gap,
  memory_copy,
  memory_combine,
  fence,
};

/// By Quantity, as in the file.
inline constexpr std::array<const char*, 12> kQuantities{"one_way",
                                                         "gap",
                                                         "exchange",
                                                         "reduce",
                                                         "copy",
                                                         "stores_one_way",
                                                         "stores_gap",
                                                         "single_copy_one_way",
                                                         "single_copy_gap",
                                                         "memory_copy",
                                                         "memory_combine",
                                                         "fence"};

}  // namespace unisono
