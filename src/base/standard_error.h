/* What descriptor 2 was when Unisono was loaded, and whether it is the same file now: a program may
 * close it and open a file of its own, in which nobody else may write. In C, for the preloaded
 * library as well. */
#pragma once
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct unisono_standard_error {
  dev_t device;
  ino_t inode;
  int is_open;
};

/* By the system call: fstat() is a symbol of new C libraries only. */
static inline int unisono_stat_standard_error(struct stat* file) {
  return syscall(SYS_fstat, STDERR_FILENO, file) == 0;
}

static inline struct unisono_standard_error unisono_standard_error_now(void) {
  struct stat file;
  struct unisono_standard_error now = {0, 0, 0};
  if (!unisono_stat_standard_error(&file)) return now;
  now.device = file.st_dev;
  now.inode = file.st_ino;
  now.is_open = 1;
  return now;
}

/* Whether lines of ours reach the user: it was open at `load`, and has not become another file,
 * disk or socket since. Another terminal or pipe may be what the program writes its own lines to.
 */
static inline int unisono_user_reads(const struct unisono_standard_error* load) {
  struct stat file;
  if (!load->is_open || !unisono_stat_standard_error(&file)) return 0;
  if (!S_ISREG(file.st_mode) && !S_ISBLK(file.st_mode) && !S_ISSOCK(file.st_mode)) return 1;
  return file.st_dev == load->device && file.st_ino == load->inode;
}
