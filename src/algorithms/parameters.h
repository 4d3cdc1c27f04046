// The parameters that rows of the catalogue read, with their limits and standard values.
#pragma once
#include "algorithms/catalogue.h"

namespace unisono {

inline constexpr Count kMaxSegment = Count{1} << 30;

inline constexpr std::span<const Parameter> kNoParameters;
inline constexpr Parameter kSegment[] = {
    {"segment", &Params::segment, 16384, 1, kMaxSegment, true, "bytes of a pipeline segment"}};
inline constexpr Parameter kSegmentAndWindow[] = {
    kSegment[0], {"window", &Params::window, 4, 1, 64, false, "segments or rounds under way"}};
// Of the order of a short message's time on Ethernet; not tuned.
inline constexpr Parameter kSegmentAndPause[] = {
    kSegment[0],
    {"pause", &Params::pause, 100, 0, 1000000, false, "us from a set's first rank to its chain"}};
inline constexpr Parameter kBlockSegment[] = {{"segment", &Params::segment, 262144, 1, kMaxSegment,
                                               true, "bytes of a pipeline segment within a block"}};
inline constexpr Parameter kWindow[] = {
    {"window", &Params::window, 4, 1, 64, false, "messages under way"}};
inline constexpr Parameter kBlockSegmentAndWindow[] = {kBlockSegment[0], kSegmentAndWindow[1]};
// 64K: what a port of a cheap switch holds (model/machine.h).
inline constexpr Parameter kPaced[] = {
    kSegment[0],
    {"window", &Params::window, 4, 1, 64, false, "segments' bytes on their way, in all"}};
// So few bytes that no queue on the way overflows: 32K; yet the next are on their way in time.
inline constexpr Parameter kGrantedSegments[] = {
    kSegment[0],
    {"window", &Params::window, 2, 1, 64, false, "segments asked for and not yet there"}};
// 128K out of a host, which drops nothing of its own, and twice as much into a port of a switch.
inline constexpr Parameter kCredits[] = {
    {"segment", &Params::segment, 8192, 1, kMaxSegment, true, "bytes of a segment"},
    {"window", &Params::window, 16, 1, 64, false, "segments of a rank on their way, in all"}};
inline constexpr Parameter kTurns[] = {
    {"window", &Params::window, 1, 1, 64, false, "blocks under way"}};
inline constexpr Parameter kMessagesPerStep[] = {
    {"radix", &Params::radix, 2, 2, 64, false, "messages per step, plus one"}};
inline constexpr Parameter kRadix[] = {
    {"radix", &Params::radix, 4, 2, 64, false, "children per level of the tree, plus one"}};

inline constexpr Parameter kSegmentAndGroup[] = {
    kSegment[0], {"radix", &Params::radix, 4, 1, 64, false, "ranks in a chain of the tree"}};
inline constexpr Parameter kSegmentGroupAndWindow[] = {kSegment[0], kSegmentAndGroup[1],
                                                       kSegmentAndWindow[1]};
inline constexpr Parameter kRunSegment[] = {
    {"segment", &Params::segment, 0, 0, kMaxSegment, true,
     "bytes of a pipeline segment of a message; 0: messages are whole"}};
inline constexpr Parameter kRadixAndRunSegment[] = {kRadix[0], kRunSegment[0]};
inline constexpr Parameter kRow[] = {
    {"radix", &Params::radix, 0, 0, 1 << 20, false, "ranks in a row; 0: with the fewest messages"}};

// Many short ones: the trees are deep, and hops on a torus are short.
inline constexpr Parameter kTreesAndSegment[] = {
    {"trees", &Params::trees, 0, 0, kTreeKindNames.size() - 1, false,
     "over the hosts of the torus: see [tori](guide/tori.md)", kTreeKindNames},
    {"segment", &Params::segment, 4096, 1, kMaxSegment, true, "bytes of a pipeline segment"}};
inline constexpr Parameter kTreesSegmentAndWindow[] = {
    kTreesAndSegment[0],
    kTreesAndSegment[1],
    {"window", &Params::window, 16, 1, 64, false, "segments of a tree under way"}};

inline constexpr Parameter kThreshold[] = {
    {"threshold", &Params::threshold, 1024, 0, kMaxSegment, true,
     "bytes; when all that is left is shorter, it goes in one phase"}};

}  // namespace unisono
