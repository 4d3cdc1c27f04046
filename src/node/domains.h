// Which ranks of a node are near to each other: under one cache, or at one memory.
#pragma once
#include <span>
#include <vector>

#include "node/cpu_mask.h"

namespace unisono::node {

/// Of a rank that may run in several.
inline constexpr int kNoDomain = -1;

/// Whether domains_of() is worth its milliseconds on this machine: two short files are read. True
/// where HWLOC_SYNTHETIC or HWLOC_XMLFILE describes another machine.
bool may_have_domains();

/// The domain of every rank, by where it may run; numbered in the order of their first ranks.
/// Domains are L3 caches, NUMA nodes or packages: the smallest that have two ranks on average.
/// Empty where there are no two such, and where hwloc is missing.
std::vector<int> domains_of(std::span<const CpuMask> ranks);

}  // namespace unisono::node
