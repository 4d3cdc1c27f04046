// unisono-exec [--] program [arguments]: runs a program with Unisono placed under it.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/launcher.h"
#include "base/version.h"

static const char kHelp[] =
    "usage: unisono-exec [--] program [arguments]\n"
    "Runs an MPI program with Unisono placed under it. Use it after the launcher:\n"
    "  mpiexec -n 4 unisono-exec ./program arguments\n"
    "  mpiexec -n 4 unisono-exec python3 script.py\n"
    "UNISONO_DISABLE=1 runs the program on its MPI library alone.\n";

static _Noreturn void fail(int status, const char* what, const char* why) {
  fprintf(stderr, "unisono-exec: %s%s\n", what, why);
  exit(status);
}

/// The path without its last part, "" at the end.
static void cut_last(char* path) {
  char* slash = strrchr(path, '/');
  if (slash != NULL) *slash = '\0';
}

/// Whether `relative` to the folder of the program `self` there is the library: then `found` is it.
/// A path whose links and dots are resolved can be shortened.
static bool is_at(const char* self, bool resolved, const char* relative, char* found) {
  char folder[PATH_MAX];
  if (snprintf(folder, sizeof folder, "%s", self) >= (int)sizeof folder) return false;
  cut_last(folder);
  for (; resolved && strncmp(relative, "../", 3) == 0; relative += 3) cut_last(folder);
  const int length = snprintf(found, PATH_MAX, "%s/%s/libunisono.so", folder, relative);
  return length < PATH_MAX && access(found, R_OK) == 0;
}

/// The library of the program `self`: bin/../lib, or as the prefix has it. Links are followed where
/// that is allowed.
static bool is_beside(const char* self, char* found) {
  char resolved[PATH_MAX], whole[PATH_MAX] = "";
  if (self == NULL || *self == '\0') return false;
  if (realpath(self, resolved) != NULL)
    return is_at(resolved, true, "../lib", found) ||
           is_at(resolved, true, UNISONO_LIBRARIES, found);
  if (*self != '/' && getcwd(whole, sizeof whole) != NULL) {
    const size_t length = strlen(whole);
    if (snprintf(whole + length, sizeof whole - length, "/%s", self) >=
        (int)(sizeof whole - length))
      return false;
  }
  const char* path = *self == '/' ? self : whole;
  return is_at(path, false, "../lib", found) || is_at(path, false, UNISONO_LIBRARIES, found);
}

/// The same where the shell would have found the program.
static bool is_beside_in_path(const char* name, char* found) {
  const char* folders = getenv("PATH");
  if (strchr(name, '/') != NULL) return is_beside(name, found);
  while (folders != NULL && *folders != '\0') {
    char self[PATH_MAX];
    const size_t length = strcspn(folders, ":");
    const int written = snprintf(self, sizeof self, "%.*s/%s", (int)length, folders, name);
    if (written < (int)sizeof self && access(self, X_OK) == 0) return is_beside(self, found);
    folders += folders[length] == ':' ? length + 1 : length;
  }
  return false;
}

/// The library to preload, found from where this program lies, which the kernel knows, or who has
/// started it; /proc need not be there. Null: `problem` says why.
static const char* library(const char* name, char* found, const char** problem) {
  const char* started = (const char*)getauxval(AT_EXECFN);
  snprintf(found, PATH_MAX, "lib/libunisono.so");
  if (!is_beside(started, found) && !is_beside_in_path(name, found) &&
      !is_beside("/proc/self/exe", found)) {
    *problem = " cannot be read";
    return NULL;
  }
  // The dynamic linker splits LD_PRELOAD there, and has no way to quote.
  *problem = " has a space or colon in it and cannot be preloaded: move it";
  return strpbrk(found, " :") == NULL ? found : NULL;
}

/// Ranks that have Unisono would wait for this one, unless they see that it has not.
static void do_without(const char* path, const char* problem) {
  if (!unisono_whole_job_is_here())
    fprintf(
        stderr,
        "unisono-exec: %s%s; ranks on other nodes would wait for this one: not started. Install "
        "Unisono here as there, or start all without unisono-exec\n",
        path, problem),
        exit(127);
  fprintf(stderr, "unisono-exec: %s%s; the program runs on its MPI library alone\n", path, problem);
}

static void preload(const char* path) {
  const char* others = getenv("LD_PRELOAD");
  char* both = NULL;
  if (others == NULL || *others == '\0') {
    setenv("LD_PRELOAD", path, 1);
  } else if (asprintf(&both, "%s:%s", path, others) > 0) {
    setenv("LD_PRELOAD", both, 1);
    free(both);
  }
}

int main(int argc, char** argv) {
  int first = 1;
  if (first < argc && argv[first][0] == '-') {
    const char* option = argv[first];
    if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) return fputs(kHelp, stdout), 0;
    if (strcmp(option, "--version") == 0) return puts("unisono-exec " UNISONO_VERSION), 0;
    if (strcmp(option, "--") != 0)
      fprintf(stderr, "unisono-exec: unknown option %s (see --help)\n", option), exit(2);
    ++first;
  }
  if (first >= argc) fail(2, "which program? (see --help)", "");

  char path[PATH_MAX];
  const char* problem = NULL;
  if (!unisono_does_nothing() || !unisono_whole_job_is_here()) {
    if (library(argv[0], path, &problem) != NULL)
      preload(path);
    else
      do_without(path, problem);
  }
  execvp(argv[first], argv + first);
  const int error = errno;
  fprintf(stderr, "unisono-exec: %s: %s\n", argv[first], strerror(error));
  return error == ENOENT ? 127 : 126;
}
