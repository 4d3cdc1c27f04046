#include "tools/bench/machine.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "comm/network_probe.h"
#include "comm/placement.h"
#include "mpi/comm.h"
#include "unisono/unisono.h"

namespace unisono::bench {

namespace {

std::string standard_version() {
  int version = 0, subversion = 0;
  MPI_Get_version(&version, &subversion);
  return fmt::format("{}.{}", version, subversion);
}

}  // namespace

std::string library_path() {
  // Not the function's address in this program, which may be a stub of the program itself. Unisono
  // has MPI_ names, too, and no PMPI_ ones.
  void* function = dlsym(RTLD_DEFAULT, "PMPI_Get_library_version");
  Dl_info found{};
  if (function == nullptr || dladdr(function, &found) == 0) return "";
  std::error_code failed;
  const auto path = std::filesystem::canonical(found.dli_fname, failed);
  return failed ? found.dli_fname : path.string();
}

namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "";
}

std::string kernel_name() {
  utsname name{};
  uname(&name);
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

}  // namespace

Machine describe_machine(MPI_Comm comm) {
  Machine machine;
  machine.unisono_version = unisono_version();
  MPI_Comm node = ranks_of_node(comm);
  const NodeFacts facts = node_facts(comm, node);
  machine.platform = platform_of(comm, facts);
  if (facts.has_network()) machine.platform.network_rate = network_rate(probe_network(comm, node));
  machine.mpi_library_path = library_path();
  machine.mpi_standard = standard_version();
  machine.processor = processor_name();
  machine.kernel = kernel_name();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (text.starts_with("UNISONO_") || text.starts_with("UNISONO="))
      machine.environment.emplace_back(text.substr(0, text.find('=')),
                                       text.substr(text.find('=') + 1));
  }
  std::sort(machine.environment.begin(), machine.environment.end());

  machine.ranks = size_of(comm);
  const int node_size = size_of(node), leads = rank_in(node) == 0 ? 1 : 0;
  PMPI_Allreduce(&leads, &machine.nodes, 1, MPI_INT, MPI_SUM, comm);
  PMPI_Allreduce(&node_size, &machine.most_ranks_on_a_node, 1, MPI_INT, MPI_MAX, comm);
  // Ranks may be bound to a core each: what they have together counts.
  cpu_set_t mine, together;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  PMPI_Allreduce(&mine, &together, static_cast<int>(sizeof mine), MPI_UINT8_T, MPI_BOR, node);
  machine.cores = CPU_COUNT(&together);
  PMPI_Bcast(&machine.cores, 1, MPI_INT, 0, comm);
  PMPI_Comm_free(&node);
  return machine;
}

}  // namespace unisono::bench
