// All that the catalogue offers for a kind of call: what the cost model is asked about.
#pragma once
#include <vector>

#include "select/selector.h"

namespace unisono {

/// Every row that sends messages and can serve such a call, with its standard parameters; then the
/// same rows with others, the nearest first. The same on all ranks. Left out are grids and
/// what runs in a node's memory: they have no price.
std::vector<Spec> proposals(const Facts& facts);

}  // namespace unisono
