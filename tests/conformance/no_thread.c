/* Preloaded under one rank: the system has no thread for Unisono. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

typedef int Create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*work)(void*), void* with) {
  Dl_info caller;
  Create* next;
  if (dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "libunisono"))
    return EAGAIN;
  *(void**)&next = dlsym(RTLD_NEXT, "pthread_create");
  return next(thread, how, work, with);
}
