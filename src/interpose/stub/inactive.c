#include "interpose/stub/inactive.h"

#include <string.h>

#include "base/version.h"

static const char* version(void) { return UNISONO_VERSION; }
static int force(const char* collective, const char* spec) {
  (void)collective, (void)spec;
  return -1;
}
static const char* error(void) { return "Unisono is not active in this process"; }
static int nothing(void) { return -1; }
static void counts(unsigned long long* own, unsigned long long* native) { *own = *native = 0; }

void* unisono_inactive_function(const char* name) {
  if (strcmp(name, "unisono_version") == 0) return (void*)version;
  if (strcmp(name, "unisono_force") == 0) return (void*)force;
  if (strcmp(name, "unisono_error") == 0) return (void*)error;
  if (strcmp(name, "unisono_counts") == 0) return (void*)counts;
  // Whatever their arguments are, they read none.
  return strncmp(name, "unisono_", 8) == 0 ? (void*)nothing : NULL;
}
