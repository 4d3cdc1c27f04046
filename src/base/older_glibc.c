/* What the static libstdc++ and libgcc of a new system take from its C library, and an older one
 * does not have yet: with these, what is built where glibc is 2.36 or newer runs where it is 2.34
 * (RHEL 9). Linked as an object, since the compiler's archives come last; hidden, so that no
 * program gets to see them. */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

uint32_t arc4random(void);

/* glibc 2.36; of std::random_device. */
uint32_t arc4random(void) {
  uint32_t value = 0;
  for (;;) {
    const ssize_t got = getrandom(&value, sizeof value, 0);
    if (got == (ssize_t)sizeof value) return value;
    if (got < 0 && errno != EINTR) abort();
  }
}

#ifdef DLFO_EH_SEGMENT_TYPE
#include <dlfcn.h>

struct Search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int look_at(struct dl_phdr_info* library, size_t size, void* argument) {
  struct Search* search = argument;
  const ElfW(Phdr)* tables = NULL;
  int holds = 0;
  (void)size;
  for (int k = 0; k < library->dlpi_phnum; ++k) {
    const ElfW(Phdr)* segment = &library->dlpi_phdr[k];
    const uintptr_t begin = library->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == DLFO_EH_SEGMENT_TYPE) tables = segment;
    if (segment->p_type != PT_LOAD || search->address - begin >= segment->p_memsz) continue;
    holds = 1;
    search->found->dlfo_map_start = (void*)begin;
    search->found->dlfo_map_end = (void*)(begin + segment->p_memsz);
  }
  if (!holds || tables == NULL) return holds ? -1 : 0;
  search->found->dlfo_eh_frame = (void*)(library->dlpi_addr + tables->p_vaddr);
  return 1;
}

/* glibc 2.35; of the unwinder, which reads dlfo_eh_frame only. As libgcc found it before. */
int _dl_find_object(void* address, struct dl_find_object* found) {
  struct Search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(look_at, &search) == 1 ? 0 : -1;
}
#endif
