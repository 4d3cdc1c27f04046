#include "node/domains.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <sstream>

#include "base/size.h"

namespace unisono::node {

namespace {

/// Empty where there is no such file.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

constexpr int kBits = static_cast<int>(8 * sizeof(CpuMask));

/// No mask holds kBits, which is the first one of an empty mask.
bool holds(const CpuMask& mask, int cpu) {
  return cpu < kBits && (mask[static_cast<std::size_t>(cpu / 8)] >> (cpu % 8) & 1) != 0;
}

/// Of "0-3,8,10-11".
CpuMask mask_of(const std::string& list) {
  CpuMask mask{};
  std::istringstream ranges(list);
  int first = 0, last = 0;
  while (ranges >> first) {
    last = first;
    if (ranges.peek() == '-') ranges.ignore() >> last;
    for (int cpu = std::max(first, 0); cpu <= last && cpu < kBits; ++cpu)
      mask[static_cast<std::size_t>(cpu / 8)] |= static_cast<unsigned char>(1 << cpu % 8);
    ranges.ignore();
  }
  return mask;
}

int first_in(const CpuMask& mask) {
  int cpu = 0;
  while (cpu < kBits && !holds(mask, cpu)) ++cpu;
  return cpu;
}

bool is_within(const CpuMask& part, const CpuMask& whole) {
  for (std::size_t i = 0; i < part.size(); ++i)
    if ((part[i] & ~whole[i]) != 0) return false;
  return true;
}

/// The processors that share it with this one, as Linux lists them.
std::string list_of(DomainKind kind, int cpu, const std::string& machine) {
  const std::string own = machine + "/cpu/cpu" + std::to_string(cpu);
  if (kind == DomainKind::core) return first_line(own + "/topology/thread_siblings_list");
  if (kind == DomainKind::cache) return first_line(own + "/cache/index3/shared_cpu_list");
  if (kind == DomainKind::package) return first_line(own + "/topology/core_siblings_list");
  const CpuMask nodes = mask_of(first_line(machine + "/node/online"));
  for (int node = 0; node < kBits; ++node) {
    if (!holds(nodes, node)) continue;
    const std::string list = first_line(machine + "/node/node" + std::to_string(node) + "/cpulist");
    if (holds(mask_of(list), cpu)) return list;
  }
  return "";
}

struct Division {
  std::vector<int> domains;  ///< of the ranks
  int count = 0;
  bool is_useful = false;  ///< two domains or more, which have two ranks on average
};

Division divide(DomainKind kind, std::span<const CpuMask> ranks, const std::string& machine) {
  Division division;
  std::vector<std::string> met;
  int inside = 0;
  for (const CpuMask& mask : ranks) {
    const std::string list = domain_of(kind, mask, machine);
    division.domains.push_back(kNoDomain);
    if (list.empty()) continue;
    ++inside;
    const auto at = std::find(met.begin(), met.end(), list);
    division.domains.back() = static_cast<int>(at - met.begin());
    if (at == met.end()) met.push_back(list);
  }
  division.count = static_cast<int>(met.size());
  division.is_useful = division.count >= 2 && inside >= 2 * division.count;
  return division;
}

}  // namespace

std::size_t private_cache_bytes(const CpuMask& mask, const std::string& machine) {
  const std::string own = machine + "/cpu/cpu" + std::to_string(first_in(mask));
  const std::string core = first_line(own + "/topology/thread_siblings_list");
  std::size_t most = 0;
  for (int index = 0;; ++index) {
    const std::string cache = own + "/cache/index" + std::to_string(index);
    const std::string size = first_line(cache + "/size");
    if (size.empty()) return most;
    const bool is_own = first_line(cache + "/shared_cpu_list") == core;
    if (is_own && first_line(cache + "/type") != "Instruction")
      most = std::max(most, static_cast<std::size_t>(parse_size(size).value_or(0)));
  }
}

std::string domain_of(DomainKind kind, const CpuMask& mask, const std::string& machine) {
  const std::string list = list_of(kind, first_in(mask), machine);
  return is_within(mask, mask_of(list)) ? list : "";
}

bool may_have_domains(const std::string& machine) {
  const std::string memories = first_line(machine + "/node/online");
  const std::string all = first_line(machine + "/cpu/online");
  const std::string cached = list_of(DomainKind::cache, first_in(mask_of(all)), machine);
  return (!memories.empty() && memories != "0") || (!cached.empty() && cached != all);
}

std::vector<int> domains_of(std::span<const CpuMask> ranks, const std::string& machine) {
  Division best;
  for (const DomainKind kind : {DomainKind::cache, DomainKind::memory, DomainKind::package}) {
    Division division = divide(kind, ranks, machine);
    if (division.is_useful && division.count > best.count) best = std::move(division);
  }
  return best.domains;
}

}  // namespace unisono::node
