// The processors that a process may run on.
#pragma once
#include <sched.h>

#include <array>

namespace unisono::node {

using CpuMask = std::array<unsigned char, 1024>;  ///< a bit for each of 8192

/// Of this process; the first processor where the system does not say.
inline CpuMask affinity() {
  CpuMask mask{};
  if (sched_getaffinity(0, mask.size(), reinterpret_cast<cpu_set_t*>(mask.data())) != 0)
    mask[0] = 1;
  return mask;
}

}  // namespace unisono::node
