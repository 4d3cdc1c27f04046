// The collectives as the bench sees them: who gives what, who gets what, and what each must
// deliver, as schedule/semantics.h says.
#pragma once
#include <mpi.h>

#include <string_view>

#include "mpi/functions.h"
#include "schedule/collective.h"
#include "tools/bench/values.h"

namespace unisono::bench {

class Cell;

using Mpi = Functions;

enum class Part { none, block, all };  ///< of the p blocks that make up the data
enum class Holder { root, every };

/// What an output block must hold: the combined contributions of some ranks, from an element on.
struct Expected {
  Ranks ranks;
  Count start = 0;
};

struct CollectiveCall {
  Collective collective;
  Part input;
  Holder input_holder;
  Part output;
  Holder output_holder;
  /// No rank can leave a call before all have entered it, so that calls one after the other do not
  /// overlap by more than their ends.
  bool synchronises;
  bool has_in_place;
};

const CollectiveCall& call_of(Collective collective);
/// What the sizes that users give are sizes of; empty: there are none.
std::string_view sized(Measure measure);
/// Block `block` of the output of this rank.
Expected expected(const Cell& cell, int block);

}  // namespace unisono::bench
