#include "base/cores.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>

namespace unisono {
namespace {

constexpr int kLongest = 4096;  // a path

/// Up to two numbers of a file's first line; fewer where it has others, or where there is none.
struct Numbers {
  long long values[2] = {0, 0};
  int read = 0;
};

Numbers numbers_in(const char* folder, const char* name) {
  char path[kLongest + 64];
  std::snprintf(path, sizeof path, "%s/%s", folder, name);
  Numbers numbers;
  if (std::FILE* file = std::fopen(path, "r")) {
    numbers.read = std::fscanf(file, "%lld %lld", &numbers.values[0], &numbers.values[1]);
    std::fclose(file);
  }
  return numbers;
}

/// What one control group allows: in version 2 a file, in version 1 two.
std::optional<double> quota_of(const char* folder, int version) {
  const Numbers quota = numbers_in(folder, version == 2 ? "cpu.max" : "cpu.cfs_quota_us");
  if (quota.read < 1 || quota.values[0] <= 0) return std::nullopt;
  const long long period =
      version == 2 ? quota.values[1] : numbers_in(folder, "cpu.cfs_period_us").values[0];
  if (period <= 0) return std::nullopt;
  return static_cast<double>(quota.values[0]) / static_cast<double>(period);
}

/// The smallest on the way from a group to the top. Within a container the group's path may be the
/// host's, which is not there, and the top the container's own.
double smallest_quota(const char* groups, const char* controller, const char* group) {
  const int version = *controller == '\0' ? 2 : 1;
  char folder[kLongest];
  double smallest = INT_MAX;
  const int top = std::snprintf(folder, sizeof folder, "%s%s", groups, controller);
  if (top < 0 || top + std::strlen(group) >= sizeof folder) return smallest;
  std::strcpy(folder + top, group);
  for (;;) {
    if (const auto quota = quota_of(folder, version)) smallest = std::min(smallest, *quota);
    char* const last = std::strrchr(folder, '/');
    if (last == nullptr || last < folder + top) return smallest;
    *last = '\0';
  }
}

/// Whether a list with commas has it.
bool has_controller(const char* list, const char* name) {
  const std::size_t length = std::strlen(name);
  for (const char* at = list;; ++at) {
    const std::size_t one = std::strcspn(at, ",");
    if (one == length && std::strncmp(at, name, length) == 0) return true;
    at += one;
    if (*at == '\0') return false;
  }
}

/// Of a line of /proc/self/cgroup: HIERARCHY:CONTROLLERS:PATH.
double quota_of_line(const char* groups, char* line) {
  line[std::strcspn(line, "\n")] = '\0';
  char* const controllers = std::strchr(line, ':');
  char* const path = controllers != nullptr ? std::strchr(controllers + 1, ':') : nullptr;
  if (path == nullptr) return INT_MAX;
  *path = '\0';
  if (controllers[1] == '\0') return smallest_quota(groups, "", path + 1);
  if (!has_controller(controllers + 1, "cpu")) return INT_MAX;
  char link[kLongest];
  *controllers = '/';  // which is the name of the folder, too
  std::snprintf(link, sizeof link, "%s/cpu", groups);
  return smallest_quota(groups, access(link, F_OK) == 0 ? "/cpu" : controllers, path + 1);
}

}  // namespace

int quota_cores_in(const char* groups, const char* own) {
  double cores = INT_MAX;
  if (std::FILE* file = std::fopen(own, "r")) {
    char line[kLongest];
    while (std::fgets(line, sizeof line, file) != nullptr)
      cores = std::min(cores, quota_of_line(groups, line));
    std::fclose(file);
  } else {
    cores = smallest_quota(groups, "", "/");
  }
  return std::max(1, static_cast<int>(cores));
}

int quota_cores() {
  static const int cores = quota_cores_in("/sys/fs/cgroup", "/proc/self/cgroup");
  return cores;
}

int online_cores(int quota) {
  return std::min(std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))), quota);
}

}  // namespace unisono
