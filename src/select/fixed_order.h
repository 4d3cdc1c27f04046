// UNISONO_REPRODUCIBLE: what the order of a reduction may depend on.
#pragma once
#include <limits>
#include <string>
#include <string_view>

#include "base/result.h"
#include "schedule/collective.h"

namespace unisono {

enum class Reproducible : unsigned char {
  off,        ///< on anything
  runs,       ///< on what is equal in all runs of a program on the same ranks in the same places
  placement,  ///< on the ranks' number and the length alone, wherever they are
};

inline Result<Reproducible> parse_reproducible(const std::string& text) {
  if (text == "off" || text == "0") return Reproducible::off;
  if (text == "runs") return Reproducible::runs;
  if (text == "placement" || text == "1") return Reproducible::placement;
  return Error{"valid are off, runs and placement; runs holds"};
}

struct FixedOrder {
  Collective collective;
  Count most_bytes;
  std::string_view spec;
};

inline constexpr Count kShortReduction = Count{16} << 10;
inline constexpr Count kAnyLength = std::numeric_limits<Count>::max();

/// Of `placement`. The first one that can serve a call does. All ranks of an Allreduce get the same
/// bits. None of them looks at nodes, or at who is late, and each sends messages only.
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
