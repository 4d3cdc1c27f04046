// Groups of ranks that are chains, in a binary tree of groups.
//
// Source: Sanders, Sibeyn, A bandwidth latency tradeoff for broadcast and reduction (2000; 2003).
#pragma once
#include <vector>

#include "schedule/schedule.h"

namespace unisono {

/// Group g is the positions [g r, (g + 1) r), cut at `size`; its children are the groups 2 g + 1
/// and 2 g + 2. A broadcast from position 0 goes down every chain; of each run of r segments member
/// k gives segment k to the head of the first child, the last member all of them to that of the
/// second. So a position sends at most 1 + 1/r times what it receives, and r = 1 is a binary tree.
struct FractionalTree {
  int size;
  int radix;  ///< r

  /// From whom a position receives a segment; -1 for position 0.
  int source(int position, Count segment) const {
    if (position % radix != 0) return position - 1;
    const int group = position / radix;
    if (group == 0) return -1;
    const int parent = (group - 1) / 2 * radix;
    return parent + static_cast<int>(group % 2 != 0 ? segment % radix : radix - 1);
  }
  /// To whom it passes it on.
  std::vector<int> targets(int position, Count segment) const;
};

}  // namespace unisono
