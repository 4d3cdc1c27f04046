// UNISONO_REPRODUCIBLE=1: reductions whose order depends on the ranks' number and the length alone,
// wherever the ranks are and whatever the machine.
#pragma once
#include <limits>
#include <string_view>

#include "schedule/collective.h"

namespace unisono {

struct FixedOrder {
  Collective collective;
  Count most_bytes;
  std::string_view spec;
};

inline constexpr Count kShortReduction = Count{16} << 10;
inline constexpr Count kAnyLength = std::numeric_limits<Count>::max();

/// The first one that can serve a call does. All ranks of an Allreduce get the same bits. None of
/// them looks at nodes, or at who is late, and each sends messages only.
inline constexpr FixedOrder kFixedOrders[] = {
    {Collective::reduce, kShortReduction, "binomial"},
    {Collective::reduce, kAnyLength, "chain"},
    {Collective::allreduce, kShortReduction, "recursive_doubling"},
    {Collective::allreduce, kAnyLength, "ring"},
    {Collective::allreduce, kAnyLength, "recursive_doubling"},  // operations that do not commute
    {Collective::reduce_scatter_block, kShortReduction, "recursive_halving"},
    {Collective::reduce_scatter_block, kAnyLength, "ring"},
    {Collective::reduce_scatter_block, kAnyLength, "pairwise"},
    {Collective::reduce_scatter, kShortReduction, "recursive_halving"},
    {Collective::reduce_scatter, kAnyLength, "ring"},
    {Collective::reduce_scatter, kAnyLength, "pairwise"},
    {Collective::scan, kShortReduction, "recursive_doubling"},
    {Collective::scan, kAnyLength, "chain"},
    {Collective::exscan, kShortReduction, "recursive_doubling"},
    {Collective::exscan, kAnyLength, "chain"},
};

}  // namespace unisono
