#include "runtime/node.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstring>

namespace unisono {

namespace {

constexpr std::size_t kMaskBytes = 1024;  // 8192 cores
using Mask = std::array<unsigned char, kMaskBytes>;

Mask affinity() {
  Mask mask{};
  if (sched_getaffinity(0, mask.size(), reinterpret_cast<cpu_set_t*>(mask.data())) != 0)
    mask[0] = 1;
  return mask;
}

int cores_in(const Mask& mask) {
  int cores = 0;
  for (const unsigned char byte : mask) cores += __builtin_popcount(byte);
  return cores;
}

int read_quota(const char* path, const char* format) {
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) return INT_MAX;
  long long quota = 0, period = 0;
  const int read = std::fscanf(file, format, &quota, &period);
  std::fclose(file);
  if (read != 2 || quota <= 0 || period <= 0) return INT_MAX;
  return static_cast<int>(std::max<long long>(1, quota / period));
}

}  // namespace

int quota_cores() {
  return std::min(read_quota("/sys/fs/cgroup/cpu.max", "%lld %lld"), [] {
    std::FILE* file = std::fopen("/proc/self/cgroup", "r");
    if (file == nullptr) return INT_MAX;
    char line[4096];
    int cores = INT_MAX;
    while (std::fgets(line, sizeof line, file) != nullptr) {
      if (std::strncmp(line, "0::", 3) != 0) continue;
      line[std::strcspn(line, "\n")] = '\0';
      char path[5000];
      std::snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", line + 3);
      cores = read_quota(path, "%lld %lld");
    }
    std::fclose(file);
    return cores;
  }());
}

NodeFacts node_facts(MPI_Comm world) {
  MPI_Comm node = MPI_COMM_NULL;
  PMPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int world_size = 1, node_size = 1;
  PMPI_Comm_size(world, &world_size);
  PMPI_Comm_size(node, &node_size);
  // MPI may have bound every rank to a core of its own: only all masks together tell.
  Mask mine = affinity(), together{};
  PMPI_Allreduce(mine.data(), together.data(), static_cast<int>(mine.size()), MPI_BYTE, MPI_BOR,
                 node);
  PMPI_Comm_free(&node);
  const int cores = std::min(cores_in(together), quota_cores());
  int facts[2] = {node_size > cores ? 1 : 0, node_size < world_size ? 1 : 0};
  PMPI_Allreduce(MPI_IN_PLACE, facts, 2, MPI_INT, MPI_MAX, world);
  return {facts[0] != 0, facts[1] == 0};
}

}  // namespace unisono
