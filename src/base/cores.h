/* How many cores this process and its job may use. In C, without any library: unisono-exec asks as
 * well. */
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

/* What a control group's file cpu.max grants, in whole cores, at least one; INT_MAX: no quota. */
static inline int unisono_quota_in(const char* path) {
  long long quota = 0, period = 0;
  FILE* file = fopen(path, "r");
  if (file == NULL) return INT_MAX;
  const int read = fscanf(file, "%lld %lld", &quota, &period);
  fclose(file);
  if (read != 2 || quota <= 0 || period <= 0) return INT_MAX;
  return quota < 2 * period ? 1 : (int)(quota / period);
}

/* The same of this process's group, and of all processes of its container. */
static inline int unisono_quota_cores(void) {
  int cores = unisono_quota_in("/sys/fs/cgroup/cpu.max");
  char line[4096], path[5000];
  FILE* file = fopen("/proc/self/cgroup", "r");
  if (file == NULL) return cores;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "0::", 3) != 0) continue;
    line[strcspn(line, "\n")] = '\0';
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", line + 3);
    const int own = unisono_quota_in(path);
    if (own < cores) cores = own;
  }
  fclose(file);
  return cores;
}

/* Of the affinity of a process, 0: this one; INT_MAX: not known. */
static inline int unisono_cores_of(pid_t process) {
  cpu_set_t cores;
  return sched_getaffinity(process, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : INT_MAX;
}
