#include "interpose/stub/environment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/stub/symbol_search.h"

static bool separates(char c) { return c == ':' || c == ' ' || c == '\0'; }

static bool is_ours(const char* entry, size_t length) {
  static const char name[] = "libunisono.so";
  const size_t own = sizeof name - 1;
  return length >= own && memcmp(entry + length - own, name, own) == 0 &&
         (length == own || entry[length - own - 1] == '/');
}

// In place, in the very string: other threads may be reading the environment, and nothing moves
// that they hold. The others' entries keep their order. What remains may be empty, which counts as
// unset.
void unisono_leave_environment(void) {
  static int done = 0;
  if (__atomic_exchange_n(&done, 1, __ATOMIC_RELAXED) != 0) return;
  char *const list = getenv("LD_PRELOAD"), *entry = list;
  bool removed = false;  // else nothing is written, which the string may not allow
  while (entry != NULL && *entry != '\0') {
    size_t length = 0;
    while (!separates(entry[length])) ++length;
    const size_t with_end = entry[length] != '\0' ? length + 1 : length;
    if (is_ours(entry, length)) {
      memmove(entry, entry + with_end, strlen(entry + with_end) + 1);
      removed = true;
    } else {
      entry += with_end;
    }
  }
  if (removed && entry > list && separates(entry[-1])) entry[-1] = '\0';
}
