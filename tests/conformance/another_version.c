/* Between Unisono and the MPI library of one rank, which says what ranks tell each other first as
   another version of Unisono would (src/base/meeting_words.h). Handles of any MPI library are
   passed on as words. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define WORDS 32 /* in all versions */
#define VERSION 19

int PMPI_Iallreduce(const void* in, unsigned long long* words, int n, intptr_t type, intptr_t op,
                    intptr_t comm, void* request) {
  static int (*next)(const void*, void*, int, intptr_t, intptr_t, intptr_t, void*);
  if (next == NULL) {
    *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Iallreduce");
    if (n != WORDS) abort();
    words[VERSION] = 1;
    words[VERSION + 1] = ~words[VERSION];
  }
  return next(in, words, n, type, op, comm, request);
}
