#include "comm/placement.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/cores.h"
#include "base/hash.h"
#include "base/version.h"
#include "mpi/comm.h"
#include "mpi/patience.h"
#include "node/cpu_mask.h"

namespace unisono {

namespace {

int cores_in(const node::CpuMask& mask) {
  int cores = 0;
  for (const unsigned char byte : mask) cores += __builtin_popcount(byte);
  return cores;
}

/// The same number on all ranks that run on one kernel, whatever their containers and network
/// namespaces call themselves: cores are shared by these, not by those with one host name.
std::uint64_t kernel_hash() {
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  if (std::FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "r")) {
    if (std::fgets(name, sizeof name, file) == nullptr) name[0] = '\0';
    std::fclose(file);
  }
  int length = 0;
  if (name[0] == '\0') PMPI_Get_processor_name(name, &length);
  return fnv1a(name);
}

int kernel_number() { return static_cast<int>(kernel_hash() & INT_MAX); }

/// Whether the ranks of `group` are more than its cores and the quota of any.
bool is_oversubscribed(MPI_Comm group, int quota) {
  const int size = size_of(group);
  // MPI may have bound every rank to a core of its own: only all masks together tell.
  node::CpuMask together = node::affinity();
  reduce_patiently(std::span(together), MPI_BOR, group);
  return size > std::min(cores_in(together), quota);
}

/// A network that bypasses the kernel: InfiniBand, RoCE, Omni-Path and EFA, or Slingshot.
bool has_fabric() {
  std::error_code error;
  for (const char* folder : {"/sys/class/infiniband", "/sys/class/cxi"}) {
    const std::filesystem::directory_iterator devices(folder, error);
    if (!error && devices != end(devices)) return true;
  }
  return false;
}

/// Mb/s. Of ports that are devices: what a bridge or a container's end of a cable says is made up.
int fastest_port() {
  int fastest = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/sys/class/net", error), end; !error && at != end;
       at.increment(error)) {
    std::error_code none;
    if (!std::filesystem::exists(at->path() / "device", none)) continue;
    std::FILE* file = std::fopen((at->path() / "speed").c_str(), "r");
    if (file == nullptr) continue;
    int speed = 0;
    if (std::fscanf(file, "%d", &speed) == 1) fastest = std::max(fastest, speed);
    std::fclose(file);
  }
  return fastest;
}

/// Between nodes the network decides, whoever has a core.
Place place_of(const NodeFacts& facts) {
  if (facts.one_node) return facts.oversubscribed ? Place::oversubscribed : Place::undersubscribed;
  return facts.has_network() ? Place::ethernet : Place::elsewhere;
}

/// Of rank 0: builds may differ between nodes, and what is decided by it must not.
std::string library_of(MPI_Comm world, bool one_library) {
  if (one_library) return library_line();
  constexpr std::size_t kMostSent = 256;  // of 8 KiB, which take longer than all else here
  std::array<char, kMostSent> text{};
  library_line().copy(text.data(), text.size() - 1);
  tell_patiently(text.data(), static_cast<int>(text.size()), world);
  return text.data();
}

/// Whether ranks that are alone on their nodes have fewer cores than they are, because nodes are
/// containers on one machine. Nothing: only a communicator for each machine tells.
std::optional<bool> shares_cores(MPI_Comm world, const JobPlace& place) {
  const int size = size_of(world);
  if (place.one_kernel) {
    if (place.one_affinity) return size > cores_in(node::affinity());
    return is_oversubscribed(world, INT_MAX);
  }
  std::vector<int> kernels = gather_patiently(std::array{kernel_number()}, world);
  std::sort(kernels.begin(), kernels.end());
  const bool distinct = std::adjacent_find(kernels.begin(), kernels.end()) == kernels.end();
  return distinct ? std::optional(false) : std::nullopt;
}

NodeFacts facts_of_lone_ranks(int ranks, const JobPlace& place, bool oversubscribed) {
  NodeFacts facts;
  facts.oversubscribed = oversubscribed;
  facts.one_node = ranks == 1;
  facts.all_alone = true;
  facts.one_library = place.one_library;
  facts.fabric = place.fabric;
  facts.port = place.port;
  facts.cores = place.cores;
  return facts;
}

NodeFacts facts_of_one_node(MPI_Comm world, const JobPlace& place) {
  NodeFacts facts;
  facts.oversubscribed = place.one_affinity
                             ? size_of(world) > std::min(cores_in(node::affinity()), place.cores)
                             : is_oversubscribed(world, place.cores);
  facts.one_node = true;
  facts.one_library = place.one_library;
  facts.fabric = place.fabric;
  facts.cores = place.cores;
  facts.ranks_on_node = size_of(world);
  return facts;
}

}  // namespace

OwnPlace own_place() {
  const node::CpuMask mask = node::affinity();
  const std::string_view bytes(reinterpret_cast<const char*>(mask.data()), mask.size());
  // Of one library two builds of Unisono may be under the ranks.
  return {fnv1a(UNISONO_FLAVOUR " " UNISONO_VERSION " " + library_line()),
          kernel_hash(),
          fnv1a(bytes),
          has_fabric(),
          fastest_port(),
          online_cores()};
}

// Where nobody shares a node, or all do, nobody needs to be asked who does.
MPI_Comm ranks_of_node(MPI_Comm world, const JobPlace& place) {
  if (place.all_alone) return MPI_COMM_SELF;
  if (place.all_together) return world;
  MPI_Comm node = MPI_COMM_NULL;
  PMPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  return node;
}

void free_node(MPI_Comm node) {
  if (node != MPI_COMM_SELF && node != MPI_COMM_WORLD) PMPI_Comm_free(&node);
}

NodeFacts node_facts(MPI_Comm world, MPI_Comm node, const JobPlace& place) {
  if (place.all_together) return facts_of_one_node(world, place);
  if (place.all_alone)
    if (const auto oversubscribed = shares_cores(world, place))
      return facts_of_lone_ranks(size_of(world), place, *oversubscribed);
  MPI_Comm machine = MPI_COMM_NULL;
  PMPI_Comm_split(world, kernel_number(), 0, &machine);
  const int quota = quota_cores();
  const bool oversubscribed_node = is_oversubscribed(node, quota);
  const bool oversubscribed_machine = is_oversubscribed(machine, INT_MAX);
  PMPI_Comm_free(&machine);
  const int cores = online_cores(quota);
  const bool one_node = size_of(node) == size_of(world);
  int facts[] = {oversubscribed_node || oversubscribed_machine ? 1 : 0, one_node ? 0 : 1,
                 has_fabric() ? 1 : 0, -cores, size_of(node)};
  reduce_patiently(std::span<int>(facts), MPI_MAX, world);
  NodeFacts found;
  found.oversubscribed = facts[0] != 0;
  found.one_node = facts[1] == 0;
  found.fabric = facts[2] != 0;
  found.cores = -facts[3];
  found.ranks_on_node = facts[4];
  found.port = place.port;
  found.all_alone = place.all_alone;
  found.one_library = place.one_library;
  return found;
}

// Open MPI's answer to a message of 64 KiB or more waits behind what its rank is sending on the
// same connection. Two ranks that exchange 1 MiB at 100 Mb/s took 169 ms, in portions of 32 KiB 89,
// where the wire takes 88; MPICH takes 89 anyway (docs/adr/0033-portions.md). At 1 Gb/s a portion
// takes 262 us, and a message itself some 10.
Count portion_bytes([[maybe_unused]] const NodeFacts& facts) {
#ifdef UNISONO_FLAVOUR_OPENMPI
  constexpr Count kPortion = 32 << 10;
  constexpr int kFast = 2500;  // Mb/s
  if (facts.has_network() && facts.one_library && facts.port < kFast) return kPortion;
#endif
  return 0;
}

std::vector<int> nodes_of_ranks(MPI_Comm world, MPI_Comm node, const NodeFacts& facts) {
  if (facts.one_node) return {};
  if (!facts.all_alone) return nodes_of_ranks(world, node);
  std::vector<int> nodes(static_cast<std::size_t>(size_of(world)));
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

std::vector<int> nodes_of_ranks(MPI_Comm world, MPI_Comm node) {
  int leader = rank_in(world);
  tell_patiently(&leader, sizeof leader, node);
  return gather_patiently(std::array{leader}, world);
}

Platform platform_of(MPI_Comm world, const NodeFacts& facts) {
  const std::string library = library_of(world, facts.one_library);
  return {flavour_of(library), library, place_of(facts), 0, facts.cores, facts.ranks_per_core()};
}

std::string library_line() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  PMPI_Get_library_version(text.data(), &length);
  std::string line(text.data());
  line.resize(std::min(line.find('\n'), line.size()));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

std::string flavour_of(const std::string& library) {
  return library.starts_with("Intel") ? "intel" : UNISONO_FLAVOUR;
}

}  // namespace unisono
