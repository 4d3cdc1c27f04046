// All that the catalogue offers for a kind of call: what the cost model is asked about.
#pragma once
#include <string>
#include <vector>

#include "select/selector.h"

namespace unisono {

/// Every row that sends messages and can serve such a call, with its standard parameters; where
/// nodes have several ranks, the same for grids whose rows are the nodes, through their memory,
/// with every row of the catalogue in the columns, in every form; then all of them with other
/// parameters, the nearest first, and with an open segment (kOpenSegment) where they have one. The
/// same on all ranks. Left out is what runs in one node's memory: it has no price.
std::vector<Spec> proposals(const Facts& facts);

/// Of the row, or of that in a grid's columns.
bool has_open_segment(const Spec& spec);
/// With so many bytes in place of an open segment.
Spec with_segment(const Spec& spec, Count bytes);

/// "chain", "grid leaders chain": specs that differ by their parameters only have the same.
std::string family_of(const Spec& spec);

}  // namespace unisono
