// Cores that this process may use.
#pragma once

namespace unisono {

/// Whole cores that quotas allow, at least 1: the smallest of this process's control group and of
/// those around it, in version 1 and 2. INT_MAX without one. Tests name other folders.
int quota_cores(const char* groups = "/sys/fs/cgroup", const char* own = "/proc/self/cgroup");

/// Cores that are online, at most the quota. The affinity mask does not count: a launcher may bind
/// few ranks to few cores, many to all.
int online_cores(int quota = quota_cores());

}  // namespace unisono
