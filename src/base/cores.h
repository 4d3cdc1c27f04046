// Cores that this process may use.
#pragma once

namespace unisono {

/// Whole cores that quotas allow, at least 1: the smallest of this process's control group and of
/// those around it, in version 1 and 2. INT_MAX without one. As it was at the first call.
int quota_cores();
/// The same, read anew from these folders.
int quota_cores_in(const char* groups, const char* own);

/// Cores that are online, at most the quota. The affinity mask does not count: a launcher may bind
/// few ranks to few cores, many to all.
int online_cores(int quota = quota_cores());

}  // namespace unisono
