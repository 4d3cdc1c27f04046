// Which ranks of a node are near to each other: under one cache, or at one memory.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "node/cpu_mask.h"

namespace unisono::node {

/// Of a rank that may run in several.
inline constexpr int kNoDomain = -1;

/// Where Linux describes the machine; tests make one up.
inline const std::string kMachineFolder = "/sys/devices/system";

/// Whether there is more than one L3 cache or NUMA node: three short files are read.
bool may_have_domains(const std::string& machine = kMachineFolder);

enum class DomainKind { core, cache, memory, package };

/// The processors of the core, L3 cache, NUMA node or package that all of the mask lie in, as Linux
/// lists them; empty: they lie in several, or it does not say.
std::string domain_of(DomainKind kind, const CpuMask& mask,
                      const std::string& machine = kMachineFolder);

/// The largest cache that the first processor of the mask shares with no other core; 0: Linux does
/// not say.
std::size_t private_cache_bytes(const CpuMask& mask, const std::string& machine = kMachineFolder);

/// The domain of every rank, by where it may run; numbered in the order of their first ranks.
/// Domains are L3 caches, NUMA nodes or packages: the smallest that have two ranks on average.
/// Empty where there are no two such.
std::vector<int> domains_of(std::span<const CpuMask> ranks,
                            const std::string& machine = kMachineFolder);

}  // namespace unisono::node
