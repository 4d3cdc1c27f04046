/* What descriptor 2 was when Unisono was loaded, and whether a line reaches somebody there now: a
 * program may close it and open a file of its own, in which nobody else may write, and a pipe that
 * nobody reads would end the process or hold it up. In C, for the preloaded library as well. */
#pragma once
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct unisono_standard_error {
  dev_t device;
  ino_t inode;
  int is_open;
  int is_full; /* nobody has read for a while */
};

/* By the system call: fstat() is a symbol of new C libraries only. */
static inline int unisono_stat_standard_error(struct stat* file) {
  return syscall(SYS_fstat, STDERR_FILENO, file) == 0;
}

static inline struct unisono_standard_error unisono_standard_error_now(void) {
  struct stat file;
  struct unisono_standard_error now = {0, 0, 0, 0};
  if (!unisono_stat_standard_error(&file)) return now;
  now.device = file.st_dev;
  now.inode = file.st_ino;
  now.is_open = 1;
  return now;
}

/* Whether it has room for a line and somebody at its other end. A reader has a second, once. */
static inline int unisono_has_room(struct unisono_standard_error* load) {
  struct pollfd end = {STDERR_FILENO, POLLOUT, 0};
  struct timespec patience = {load->is_full ? 0 : 1, 0};
  const long ready = syscall(SYS_ppoll, &end, 1, &patience, (void*)0, 0);
  load->is_full = ready == 0;
  return ready == 1 && (end.revents & POLLOUT) != 0 && (end.revents & (POLLERR | POLLHUP)) == 0;
}

/* Whether a line of ours reaches the user: it was open at `load`, and has not become another file,
 * disk or socket since. Another terminal or pipe may be what the program writes its own lines to.
 */
static inline int unisono_user_reads(struct unisono_standard_error* load) {
  struct stat file;
  if (!load->is_open || !unisono_stat_standard_error(&file)) return 0;
  const int is_same = file.st_dev == load->device && file.st_ino == load->inode;
  if (S_ISREG(file.st_mode) || S_ISBLK(file.st_mode)) return is_same;
  return (is_same || !S_ISSOCK(file.st_mode)) && unisono_has_room(load);
}
