#include "node/domains.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#ifdef UNISONO_HWLOC
#include <hwloc.h>
#endif

namespace unisono::node {

namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

bool may_have_domains() {
  if (std::getenv("HWLOC_SYNTHETIC") != nullptr || std::getenv("HWLOC_XMLFILE") != nullptr)
    return true;
  const std::string memories = first_line("/sys/devices/system/node/online");
  const std::string all = first_line("/sys/devices/system/cpu/online");
  const std::string cached =
      first_line("/sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list");
  return (!memories.empty() && memories != "0") || (!cached.empty() && cached != all);
}

#ifdef UNISONO_HWLOC

namespace {

class Bitmap {
 public:
  explicit Bitmap(const CpuMask& mask) : bits_(hwloc_bitmap_alloc()) {
    for (unsigned cpu = 0; cpu < 8 * mask.size(); ++cpu)
      if ((mask[cpu / 8] >> (cpu % 8) & 1) != 0) hwloc_bitmap_set(bits_, cpu);
  }
  ~Bitmap() { hwloc_bitmap_free(bits_); }
  Bitmap(const Bitmap&) = delete;
  Bitmap& operator=(const Bitmap&) = delete;

  hwloc_bitmap_t get() const { return bits_; }

 private:
  hwloc_bitmap_t bits_;
};

/// The machine, other containers' processors included; null where hwloc cannot make sense of it.
class Topology {
 public:
  Topology() {
    if (hwloc_topology_init(&topology_) != 0) return;
    hwloc_topology_set_flags(topology_, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    // It would move this thread from processor to processor.
    hwloc_topology_set_components(topology_, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    loaded_ = hwloc_topology_load(topology_) == 0;
  }
  ~Topology() {
    if (topology_ != nullptr) hwloc_topology_destroy(topology_);
  }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  hwloc_topology_t get() const { return loaded_ ? topology_ : nullptr; }

 private:
  hwloc_topology_t topology_ = nullptr;
  bool loaded_ = false;
};

/// The number of the object of this type that the mask is in.
int place_of(hwloc_topology_t topology, hwloc_obj_type_t type, const CpuMask& mask) {
  const Bitmap cpus(mask);
  hwloc_bitmap_and(cpus.get(), cpus.get(), hwloc_topology_get_topology_cpuset(topology));
  if (hwloc_bitmap_iszero(cpus.get())) return kNoDomain;
  for (hwloc_obj_t object = hwloc_get_next_obj_by_type(topology, type, nullptr); object != nullptr;
       object = hwloc_get_next_obj_by_type(topology, type, object))
    if (hwloc_bitmap_isincluded(cpus.get(), object->cpuset) != 0)
      return static_cast<int>(object->logical_index);
  return kNoDomain;
}

struct Division {
  std::vector<int> domains;  ///< of the ranks
  int count = 0;
  bool is_useful = false;  ///< two domains or more, which have two ranks on average
};

Division divide(hwloc_topology_t topology, hwloc_obj_type_t type, std::span<const CpuMask> ranks) {
  Division division;
  std::vector<int> met;
  int inside = 0;
  for (const CpuMask& mask : ranks) {
    const int place = place_of(topology, type, mask);
    division.domains.push_back(kNoDomain);
    if (place == kNoDomain) continue;
    ++inside;
    const auto at = std::find(met.begin(), met.end(), place);
    division.domains.back() = static_cast<int>(at - met.begin());
    if (at == met.end()) met.push_back(place);
  }
  division.count = static_cast<int>(met.size());
  division.is_useful = division.count >= 2 && inside >= 2 * division.count;
  return division;
}

}  // namespace

std::vector<int> domains_of(std::span<const CpuMask> ranks) {
  if (ranks.empty()) return {};
  const Topology topology;
  if (topology.get() == nullptr) return {};
  Division best;
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_NUMANODE, HWLOC_OBJ_PACKAGE}) {
    Division division = divide(topology.get(), type, ranks);
    if (division.is_useful && division.count > best.count) best = std::move(division);
  }
  return best.domains;
}

#else

std::vector<int> domains_of(std::span<const CpuMask>) { return {}; }

#endif

}  // namespace unisono::node
