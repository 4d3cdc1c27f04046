// A grid as people write it: "shape=4x8,form=lanes,rows=binomial+ring,columns=chain/segment=8K".
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "algorithms/composition.h"
#include "base/result.h"

namespace unisono {

/// What runs along each dimension, from the last (adjacent ranks) to the first.
inline constexpr std::array<std::string_view, 3> kDimensionNames = {"rows", "columns", "planes"};

/// What follows "grid:". The error says what is valid instead. What is not given: a balanced shape,
/// form leaders, textbook algorithms.
Result<Composition> parse_composition(Collective collective, std::string_view text);

/// The composition as it could have been written, complete.
std::string composition_text(const Composition& composition);

}  // namespace unisono
